#include "supervisor/courier/upload/package.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "checkpoint/disk/root_folder.hpp"
#include "common/base/utf8.hpp"
#include "fixture.hpp"
#include "supervisor/courier/upload/target/digests.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Packages : testing::Test {
  TemporaryFolder folder;
  TestMemory memory;
  orders::Source source{"gpt", (folder.path() / "checkpoints").string(),
                        (folder.path() / "work").string()};

  Result<OpenedPackage> open(const std::string& path) {
    return open_package(source, {path, "name", 5, 77, true}, memory, {});
  }
};

TEST_F(Packages, OfAFolderOfOurs) {
  folder.write("checkpoints/step-5/MANIFEST.json", "{}");
  folder.write("checkpoints/step-5/model.safetensors", "abc");
  folder.write("checkpoints/step-5/PINNED", "mine");
  const auto path = folder.path() / "checkpoints/step-5";
  auto opened = open(path.string());
  ASSERT_TRUE(opened) << opened.error().message();
  const Package& package = opened->package;
  ASSERT_EQ(package.files.size(), 2U) << "a pin is of this box alone";
  EXPECT_EQ(package.files[0].name, "model.safetensors");
  EXPECT_EQ(package.files[1].name, "MANIFEST.json") << "last, so that half of it is not whole";
  EXPECT_EQ(package.files[0].sha256, sha256_hex("abc"));
  EXPECT_EQ(package.origin, "{checkpoint_dir}/step-5");
  EXPECT_EQ(package.saved_ms, 77);
  // Retention leaves it, and its bytes would stay readable if it did not.
  const auto may_go = checkpoint::can_remove(path);
  ASSERT_TRUE(may_go);
  EXPECT_FALSE(*may_go);
  fs::remove_all(path);
  const auto digest = file_digest(package.files[0].descriptor.get(), 3, "x");
  ASSERT_TRUE(digest);
  EXPECT_EQ(*digest, sha256_hex("abc"));
}

TEST_F(Packages, OfAFileAndAFolderOfAnotherProgram) {
  source.foreign = true;
  folder.write("work/out/pretrain_step500.pt", pickle);
  auto file = open((folder.path() / "work/out/pretrain_step500.pt").string());
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->package.files[0].name, "pretrain_step500.pt");
  EXPECT_EQ(file->package.origin, "out/pretrain_step500.pt");
  folder.write("work/out/checkpoint-7/a/.metadata", "m");
  folder.write("work/out/checkpoint-7/b", "");
  auto tree = open((folder.path() / "work/out/checkpoint-7").string());
  ASSERT_TRUE(tree) << tree.error().message();
  ASSERT_EQ(tree->package.files.size(), 2U);
  EXPECT_EQ(tree->package.files[0].name, "a/.metadata");
}

TEST_F(Packages, NoLinkIsFollowed) {
  source.foreign = true;
  const auto secret = folder.write("secret", "s");
  fs::create_directories(folder.path() / "work/out/c");
  folder.write("work/out/c/good", "g");
  fs::create_symlink(secret, folder.path() / "work/out/c/model.pt");
  EXPECT_FALSE(open((folder.path() / "work/out/c").string()));
  EXPECT_FALSE(open((folder.path() / "work/out/c/model.pt").string()));
  fs::create_directory_symlink(folder.path() / "work/out", folder.path() / "work/way");
  EXPECT_FALSE(open((folder.path() / "work/way/c/good").string()));
  EXPECT_FALSE(open(secret.string())) << "in none of its folders";
  EXPECT_FALSE(open((folder.path() / "work/../secret").string()));
  EXPECT_TRUE(open((folder.path() / "work/out/c/good").string()));
}

// Whoever owns the folder that the run lies in can put a link in the checkpoints' place.
TEST_F(Packages, RootReadsNothingThatTheOwnerOfTheWayCouldNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can read what others may not";
  constexpr uid_t somebody_else = 65534;
  fs::permissions(folder.path(), fs::perms(0755));
  folder.write("secret/step-5/MANIFEST.json", "{}");
  fs::permissions(folder.path() / "secret", fs::perms::owner_all);
  fs::create_directories(folder.path() / "theirs");
  ASSERT_EQ(::chown((folder.path() / "theirs").c_str(), somebody_else, somebody_else), 0);
  fs::create_directory_symlink(folder.path() / "secret", folder.path() / "theirs/checkpoints");
  source.checkpoints = folder.path() / "theirs/checkpoints";
  const auto opened = open(source.checkpoints + "/step-5");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("Permission denied"));
}

TEST_F(Packages, APipeHoldsNobodyUp) {
  source.foreign = true;
  folder.write("work/c/good", "g");
  ASSERT_EQ(::mkfifo((folder.path() / "work/c/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open((folder.path() / "work/c").string()));
}

TEST_F(Packages, WhatNoRecordCouldNameIsRefusedBeforeAnythingIsSent) {
  source.foreign = true;
  folder.write("work/c/good", "g");
  folder.write("work/c/a\xff.bin", "x");
  const auto name = open((folder.path() / "work/c").string());
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().kind, ErrorKind::permanent);
  EXPECT_THAT(name.error().message(), HasSubstr("rename the file"));
  EXPECT_TRUE(is_utf8(name.error().message()));
  folder.write("work/d\xfe/good", "g");
  const auto above = open((folder.path() / "work/d\xfe").string());
  ASSERT_FALSE(above);
  EXPECT_THAT(above.error().message(), HasSubstr("not UTF-8"));
  folder.write("work/e/back\\slash", "g");
  EXPECT_FALSE(open((folder.path() / "work/e").string()));
  // 8,000 long names do not fit into one record.
  const std::string base = "work/f/" + std::string(200, 'n') + "/" + std::string(200, 'm') + "/";
  folder.write(base + "0", "");
  for (int i = 1; i < 8'000; ++i) {
    std::ofstream(folder.path() / (base + std::to_string(i) + std::string(200, 'o')));
  }
  const auto many = open((folder.path() / "work/f").string());
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message(), HasSubstr("shorter names"));
}

TEST_F(Packages, WhatIsWrittenAfterwardsIsNoticed) {
  source.foreign = true;
  const auto path = folder.write("work/last.pt", pickle);
  auto opened = open(path.string());
  ASSERT_TRUE(opened);
  EXPECT_TRUE(unchanged(opened->package.files[0]));
  std::ofstream(path, std::ios::app) << "more";
  const auto changed = unchanged(opened->package.files[0]);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::corrupt);
  // And its digest is taken anew.
  opened = open(path.string());
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->package.files[0].sha256, sha256_hex(std::string(pickle) + "more"));
}

TEST_F(Packages, DigestsAreTakenOnce) {
  source.foreign = true;
  const auto path = folder.write("work/step5.pt", pickle);
  ASSERT_TRUE(open(path.string()));
  ASSERT_EQ(memory.values.size(), 1U);
  memory.values.begin()->second = std::string(64, 'f');
  auto again = open(path.string());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->package.files[0].sha256, std::string(64, 'f'));
  ASSERT_TRUE(forget_digests(memory));
  EXPECT_TRUE(memory.values.empty());
}

// Of each part as it would be sent, beside that of all of it, once somebody asks.
TEST_F(Packages, DigestsOfParts) {
  source.foreign = true;
  folder.write("work/c/three", "aaaabbbbcc");
  folder.write("work/c/one", "aaaa");
  folder.write("work/c/empty", "");
  const PartBytes by_four = [](std::int64_t size) { return std::int64_t{size > 4 ? 4 : 0}; };
  const Candidate candidate{(folder.path() / "work/c").string(), "name", 5, 77, true};
  const auto files = [&] {
    auto opened = open_package(source, candidate, memory, {}, by_four);
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened->package.files);
  };
  const std::vector<std::string> parts{sha256_hex("aaaa"), sha256_hex("bbbb"), sha256_hex("cc")};
  const auto settled = [&](const File& file) {
    EXPECT_TRUE(settle(file, memory));
    return file.digests->parts();
  };
  auto first = files();
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[2].name, "three");
  EXPECT_EQ(known_digest(first[2]), "") << "nobody has asked";
  EXPECT_EQ(part_digest(first[2], 4, 1, {}), parts[1]);
  EXPECT_EQ(part_digest(first[2], 6, 1, {}), sha256_hex("bbcc")) << "of another size";
  EXPECT_EQ(digest_of(first[2]), sha256_hex("aaaabbbbcc"));
  EXPECT_EQ(settled(first[2]), parts);
  EXPECT_EQ(known_digest(first[1]), sha256_hex("aaaa"));
  EXPECT_FALSE(first[1].digests);

  // Another process finds them.
  const auto kept = std::find_if(memory.values.begin(), memory.values.end(),
                                 [](const auto& one) { return one.second.size() == 3 * 64; });
  ASSERT_NE(kept, memory.values.end());
  kept->second = std::string(64, 'f') + kept->second.substr(64);
  EXPECT_EQ(files()[2].digests->parts()[0], std::string(64, 'f'));
  // What is no list of so many digests is not believed; one that an older version kept has none.
  kept->second.pop_back();
  EXPECT_EQ(settled(files()[2]), parts);
  memory.values.erase(kept);
  EXPECT_EQ(settled(files()[2]), parts);
  ASSERT_TRUE(forget_digests(memory));
  EXPECT_TRUE(memory.values.empty());
}

TEST(PublishedName, SaysTheStep) {
  EXPECT_EQ(published_name("/c/step-00001234", 1234), "step-00001234");
  EXPECT_EQ(published_name("/c/pretrain_step500.pt", 500), "pretrain_step500.pt");
  EXPECT_EQ(published_name("/c/last.ckpt", 500), "last.ckpt.step-500");
  EXPECT_EQ(published_name("/c/model-1500.pt", 500), "model-1500.pt.step-500");
}

}  // namespace
}  // namespace trainward::upload
