#include "trainer/data/text/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/random.hpp"
#include "scratch_folder.hpp"
#include "text/packed.hpp"

namespace trainward::trainer {
namespace {

using namespace std::string_view_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t plenty = std::uint64_t{1} << 30U;

class TextFileTest : public testing::Test {
 protected:
  Result<std::string> text_of(std::string_view bytes, std::string_view name = "file") {
    folder_.write(name, bytes);
    auto file = TextFile::open(folder_.path(name));
    if (!file) return propagate(file);
    return file->read_to_end(plenty, 0);
  }
  // Longer than every buffer, and not the same over and over.
  static std::string long_text() {
    SplitMix64 random(7);
    std::string text;
    while (text.size() < 3'000'000) text += fmt::format("line {}\n", random.below(1'000'000'000));
    return text;
  }

  const ScratchFolder folder_;
};

TEST_F(TextFileTest, PackedOrNotTheTextIsTheSame) {
  const std::string large = long_text();
  for (const std::string& text : {std::string(), std::string("a"), large}) {
    EXPECT_EQ(text_of(text).value(), text);
    EXPECT_EQ(text_of(gzipped(text)).value(), text);
    EXPECT_EQ(text_of(zstandard(text)).value(), text);
  }
  const std::string half = large.substr(0, 1'500'000);
  EXPECT_EQ(text_of(gzipped(half) + gzipped("b")).value(), half + "b") << "two files joined";
  EXPECT_EQ(text_of(zstandard("a") + zstandard(half)).value(), "a" + half);
}

TEST_F(TextFileTest, PiecesOfAnySizeMakeUpTheWhole) {
  const std::string text = long_text();
  folder_.write("f", gzipped(text));
  auto file = TextFile::open(folder_.path("f")).value();
  EXPECT_EQ(file.head(), text.substr(0, content_head_bytes));
  SplitMix64 random(3);
  std::string read;
  for (std::size_t got = 1; got > 0;) {
    std::string piece(1 + random.below(200'000), '\0');
    got = file.read(std::as_writable_bytes(std::span(piece))).value();
    read += piece.substr(0, got);
  }
  EXPECT_EQ(read, text);
  EXPECT_EQ(file.bytes_taken(), gzipped(text).size());
}

TEST_F(TextFileTest, WhatIsCutAnywhereIsNamedAndNeverReadInPart) {
  const std::string text = long_text().substr(0, 2000);
  for (const std::string& packed : {gzipped(text), zstandard(text)}) {
    for (std::size_t size = 4; size < packed.size(); ++size) {
      auto cut = text_of(packed.substr(0, size), "cut.gz");
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().kind, ErrorKind::usage);
      EXPECT_THAT(cut.error().message(), AllOf(HasSubstr("cut.gz"), HasSubstr("cut short")));
    }
  }
  EXPECT_THAT(text_of(gzipped(text) + "more").error().what,
              HasSubstr("is not a complete gzip file"));
  std::string damaged = gzipped(text);
  damaged[damaged.size() / 2] ^= 0x40;
  EXPECT_EQ(text_of(damaged).error().kind, ErrorKind::usage);
}

TEST_F(TextFileTest, MoreThanIsAllowedIsNotUnpacked) {
  folder_.write("f", gzipped(std::string(50'000'000, 'x')));
  auto file = TextFile::open(folder_.path("f")).value();
  auto text = file.read_to_end(10'000'000, 0);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::corrupt);
}

TEST_F(TextFileTest, DataInAnotherFormIsRefusedByNameWithTheCommandThatConvertsIt) {
  const auto refusal = [&](std::string_view name, std::string_view beginning) {
    auto text = text_of(std::string(beginning) + std::string(400, '\1'), name);
    EXPECT_FALSE(text) << name;
    return text ? Error{} : text.error();
  };
  Error parquet = refusal("rows.parquet", "PAR1");
  EXPECT_EQ(parquet.kind, ErrorKind::usage);
  EXPECT_EQ(parquet.what, "is a Parquet file, not text");
  EXPECT_EQ(parquet.hint,
            fmt::format("python3 -c \"import pandas; pandas.read_parquet('{0}.parquet')."
                        "to_json('{0}.jsonl', orient='records', lines=True)\", then name {0}.jsonl",
                        folder_.path("rows")));
  EXPECT_THAT(refusal("a.arrow", "\xFF\xFF\xFF\xFF"sv).message(), HasSubstr("an Arrow file"));
  EXPECT_THAT(refusal("a.feather", "ARROW1").message(), HasSubstr("read_feather"));
  EXPECT_THAT(refusal("a.zip", "PK\x03\x04").message(), HasSubstr("unzip"));
  EXPECT_THAT(refusal("a.xlsx", "PK\x03\x04").message(), HasSubstr("read_excel"));
  EXPECT_THAT(refusal("a.npz", "PK\x03\x04").message(), HasSubstr("data_format: u16"));
  EXPECT_THAT(refusal("a.npy", "\x93NUMPY").message(), HasSubstr("data_format: u16"));
  EXPECT_THAT(refusal("a.bz2", "BZh91AY").message(), HasSubstr("bunzip2 -k"));
  EXPECT_THAT(refusal("a.xz", "\xFD\x37zXZ\0"sv).message(), HasSubstr("unxz -k"));
  EXPECT_THAT(refusal("a.tar", std::string(257, 'a') + "ustar").message(), HasSubstr("tar -xf"));
  EXPECT_THAT(refusal("a b.zip", "PK\x03\x04").hint, HasSubstr("unzip FILE"))
      << "a name that a shell takes apart";
  EXPECT_THAT(refusal("what", std::string(1000, '\2')).message(), HasSubstr("data_format: text"));
  EXPECT_EQ(refusal("a.zip", "PK\x03\x04").kind, ErrorKind::corrupt) << "it may just lie there";
  auto tar = text_of(gzipped(std::string(257, 'a') + "ustar" + std::string(200, '\0')), "a.tgz");
  EXPECT_THAT(tar.error().message(), HasSubstr("is a tar archive"));
  auto pointer = text_of("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n");
  EXPECT_EQ(pointer.error().kind, ErrorKind::usage);
  EXPECT_THAT(pointer.error().message(), HasSubstr("git lfs pull"));
}

TEST_F(TextFileTest, TextThatIsNotUtf8IsNamedWhereItCannotBeMeant) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string_view("{\"prompt\": \"a\"}\n")) wide += {c, '\0'};
  EXPECT_THAT(text_of(wide).error().message(),
              AllOf(HasSubstr("UTF-16"), HasSubstr("iconv -f UTF-16 -t UTF-8")));
  EXPECT_THAT(text_of(wide.substr(2)).error().message(), HasSubstr("UTF-16")) << "without a mark";
  EXPECT_THAT(text_of("\xFF\xFE\0\0a\0\0\0"sv).error().message(), HasSubstr("UTF-32"));
  for (const std::string_view text :
       {"caf\xE9 in Latin-1, and more of it"sv, "\x1B[31mred\x1B[0m"sv, "a\0b"sv,
        "\xEF\xBB\xBFmarked"sv, "PK in the zip code"sv}) {
    EXPECT_EQ(text_of(text).value(), text);
  }
  const std::string one_zero = std::string(500, 'a') + '\0' + std::string(500, 'b');
  EXPECT_EQ(text_of(one_zero).value(), one_zero);
}

TEST(WhyNoRowsTest, TablesAndLinesOfOldMacs) {
  EXPECT_FALSE(why_no_rows("{}\r\n{}\r\n", "a.jsonl"));
  EXPECT_FALSE(why_no_rows("{}\r", "a.jsonl")) << "one row";
  EXPECT_THAT(why_no_rows("{}\r{}", "a.jsonl")->hint, HasSubstr("tr '\\r' '\\n' < a.jsonl"));
  EXPECT_THAT(why_no_rows("a,b", "pairs.csv")->hint,
              AllOf(HasSubstr("csv.DictReader(open('pairs.csv'"), HasSubstr("> pairs.jsonl")));
  EXPECT_THAT(why_no_rows("a\tb", "pairs.tsv.gz")->hint, HasSubstr("delimiter='\\t'"));
}

}  // namespace
}  // namespace trainward::trainer
