#include "trainer/data/corpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scratch_folder.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Corpus> read_one(const std::string& path, std::int64_t block_size,
                        std::uint64_t max_bytes = default_max_corpus_bytes) {
  const std::vector<std::string> paths{path};
  return Corpus::read(paths, block_size, max_bytes);
}

std::vector<std::int32_t> all_tokens(const Corpus& corpus) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(corpus.blocks() * corpus.block_size()));
  for (std::int64_t i = 0; i < corpus.blocks(); ++i) {
    const auto block = std::span(tokens).subspan(static_cast<std::size_t>(i * corpus.block_size()),
                                                 static_cast<std::size_t>(corpus.block_size()));
    if (auto ok = corpus.copy_block(i, block); !ok) ADD_FAILURE() << ok.error().message();
  }
  return tokens;
}

TEST(CorpusTest, JoinsDocumentsWithEndOfTextAndCutsBlocksWithoutPadding) {
  const ScratchFolder folder;
  folder.write("b.txt", std::string_view("\x00\xFFz", 3));
  folder.write("a/a.txt", "ab");
  folder.write("c.txt", "12345");
  auto corpus = read_one(folder.path(), 3);
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_EQ(corpus->documents(), 3);
  EXPECT_EQ(corpus->tokens(), 2 + 1 + 3 + 1 + 5);
  EXPECT_EQ(corpus->blocks(), 4);
  EXPECT_THAT(all_tokens(*corpus),
              ElementsAre('a', 'b', 256, 0, 255, 'z', 256, '1', '2', '3', '4', '5'));
}

TEST(CorpusTest, LeavesTheLastPartOfABlockOut) {
  const ScratchFolder folder;
  folder.write("a", "abcdefg");
  auto corpus = read_one(folder.path(), 3);
  ASSERT_TRUE(corpus);
  EXPECT_THAT(all_tokens(*corpus), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
}

TEST(CorpusTest, CountsAFileReachedThreeWaysOnce) {
  const ScratchFolder folder;
  folder.write("GPL-3", "free software");
  folder.link("GPL", "GPL-3");
  std::filesystem::create_hard_link(folder.path("GPL-3"), folder.path("LICENSE"));
  auto corpus = read_one(folder.path(), 2);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->documents(), 1);
  EXPECT_EQ(corpus->tokens(), 13);
}

TEST(CorpusTest, CountsAFileOfTwoFoldersOnce) {
  const ScratchFolder folder;
  folder.write("one/a", "abc");
  folder.write("two/.keep", "");
  folder.link("two/b", "../one/a");
  const std::vector<std::string> paths{folder.path("one"), folder.path("two")};
  auto corpus = Corpus::read(paths, 2);
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_EQ(corpus->documents(), 1);
}

TEST(CorpusTest, KeepsTheOrderOfTheFoldersGiven) {
  const ScratchFolder folder;
  folder.write("z/a", "zz");
  folder.write("a/a", "aa");
  const std::vector<std::string> paths{folder.path("z"), folder.path("a/a")};
  auto corpus = Corpus::read(paths, 5);
  ASSERT_TRUE(corpus);
  EXPECT_THAT(all_tokens(*corpus), ElementsAre('z', 'z', 256, 'a', 'a'));
}

TEST(CorpusTest, DoesNotFollowALinkToAFolder) {
  const ScratchFolder folder;
  folder.write("inner/a", "abc");
  folder.link("inner/up", "..");
  folder.link("again", "inner");
  auto corpus = read_one(folder.path(), 2);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->documents(), 1);
  EXPECT_TRUE(corpus->unread().empty());
}

TEST(CorpusTest, PassesOverPipes) {
  const ScratchFolder folder;
  folder.write("a", "abc");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  auto corpus = read_one(folder.path(), 2);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->documents(), 1);
}

TEST(CorpusTest, CountsAndNamesFilesThatCannotBeRead) {
  const ScratchFolder folder;
  folder.write("a", "abc");
  folder.link("dangling", "nowhere");
  folder.link("memory", "/proc/self/mem");  // opens, but its first page cannot be read
  auto corpus = read_one(folder.path(), 2);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->documents(), 1);
  ASSERT_EQ(corpus->unread().size(), 2U);
  EXPECT_EQ(corpus->unread()[0].path, folder.path("dangling"));
  EXPECT_THAT(corpus->unread()[0].reason, HasSubstr("No such file"));
  EXPECT_EQ(corpus->unread()[1].path, folder.path("memory"));
}

TEST(CorpusTest, NamesAFolderThatIsEmpty) {
  const ScratchFolder folder;
  folder.write("nothing", "");
  auto corpus = read_one(folder.path(), 2);
  ASSERT_FALSE(corpus);
  EXPECT_EQ(corpus.error().kind, ErrorKind::usage);
  EXPECT_EQ(corpus.error().where, folder.path());
}

TEST(CorpusTest, NamesAFolderOfWhichNothingCanBeRead) {
  const ScratchFolder folder;
  folder.link("memory", "/proc/self/mem");
  auto corpus = read_one(folder.path(), 2);
  ASSERT_FALSE(corpus);
  EXPECT_EQ(corpus.error().kind, ErrorKind::permanent);
  EXPECT_EQ(corpus.error().where, folder.path());
  EXPECT_THAT(corpus.error().what, HasSubstr(folder.path("memory")));
}

TEST(CorpusTest, NamesAMissingFolder) {
  auto corpus = read_one("/nonexistent/trainward", 2);
  ASSERT_FALSE(corpus);
  EXPECT_EQ(corpus.error().kind, ErrorKind::usage);
  EXPECT_EQ(corpus.error().where, "/nonexistent/trainward");
}

TEST(CorpusTest, RefusesLessThanABlockAndMoreThanItsMemory) {
  const ScratchFolder folder;
  folder.write("a", "abc");
  auto small = read_one(folder.path(), 4);
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().what, HasSubstr("3 tokens are not enough"));
  auto large = read_one(folder.path(), 2, 2);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().what, HasSubstr("more than 2 B of text"));
}

TEST(CorpusTest, DigestTellsWhereDocumentsEnd) {
  const ScratchFolder folder;
  folder.write("one/a", std::string_view("ab\0cd", 5));
  folder.write("two/a", "ab");
  folder.write("two/b", "cd");
  auto one = read_one(folder.path("one"), 2);
  auto two = read_one(folder.path("two"), 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->tokens(), two->tokens());
  EXPECT_NE(one->digest(), two->digest());
  EXPECT_EQ(one->digest(), read_one(folder.path("one"), 3)->digest());
}

}  // namespace
}  // namespace trainward::trainer
