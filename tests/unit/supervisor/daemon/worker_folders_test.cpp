// Folders handed over to a worker's user: what it gets, and what it is never given.
#include "supervisor/daemon/attempt/worker_folders.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/file.hpp"
#include "supervisor/daemon/boards/board_repair.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

constexpr uid_t nobody = 65534;

class HandOver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
    program_.name = "run";
    program_.user = User{"nobody", "", "", {nobody, nobody, {nobody}}};
    make("checkpoints/step-00000005/model.safetensors");
  }
  void make(const std::string& name) {
    const auto file = own(name);
    ASSERT_TRUE(make_folders(file.parent_path()));
    ASSERT_TRUE(write_file_durably(file, "x", 0600));
  }
  [[nodiscard]] std::filesystem::path own(const std::string& name) const {
    return paths_.state / "runs" / "run" / name;
  }
  static struct stat look(const std::filesystem::path& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info;
  }
  static uid_t owner(const std::filesystem::path& path) { return look(path).st_uid; }

  TemporaryFolder folder_;
  Paths paths_{folder_.path() / "state", {}};
  config::Program program_;
};

TEST_F(HandOver, CheckpointsAndCachesAreTheUsersAndNothingAboveThem) {
  ASSERT_TRUE(hand_over_folders(program_, paths_));
  for (const char* name : {"checkpoints", "checkpoints/step-00000005",
                           "checkpoints/step-00000005/model.safetensors", "cache"}) {
    EXPECT_EQ(owner(own(name)), nobody) << name;
  }
  for (const auto& above : {paths_.state, paths_.state / "runs", own("."), own("attempts")}) {
    EXPECT_EQ(owner(above), ::geteuid()) << above;
    EXPECT_EQ(look(above).st_mode & 07U, unsigned{S_IXOTH}) << above << ": passed, never listed";
  }
  EXPECT_EQ(look(own("checkpoints")).st_mode & 07U, 0U);
  ASSERT_TRUE(hand_over_folders(program_, paths_)) << "again";
}

TEST_F(HandOver, ALinkIsNotFollowedAndAFileWithASecondNameStays) {
  const auto secret = folder_.path() / "secret";
  ASSERT_TRUE(write_file_durably(secret, "of root", 0600));
  ASSERT_EQ(::symlink(secret.c_str(), own("checkpoints/latest").c_str()), 0);
  ASSERT_EQ(::link(secret.c_str(), own("checkpoints/second-name").c_str()), 0);
  ASSERT_TRUE(make_folders(folder_.path() / "elsewhere"));
  ASSERT_EQ(::symlink((folder_.path() / "elsewhere").c_str(), own("checkpoints/folder").c_str()),
            0);
  ASSERT_TRUE(hand_over_folders(program_, paths_));
  EXPECT_EQ(owner(own("checkpoints")), nobody);
  EXPECT_EQ(owner(secret), ::geteuid());
  EXPECT_EQ(owner(folder_.path() / "elsewhere"), ::geteuid());
}

// Only what belonged to whoever had the folder.
TEST_F(HandOver, AThirdUsersFilesStay) {
  make("checkpoints/of-a-third");
  ASSERT_EQ(::chown(own("checkpoints/of-a-third").c_str(), 64321, 64321), 0);
  ASSERT_TRUE(hand_over_folders(program_, paths_));
  EXPECT_EQ(owner(own("checkpoints/of-a-third")), 64321U);
}

TEST_F(HandOver, AFolderThatIsALinkIsRefused) {
  std::filesystem::rename(own("checkpoints"), own("other"));
  ASSERT_EQ(::symlink("other", own("checkpoints").c_str()), 0);
  EXPECT_FALSE(hand_over_folders(program_, paths_));
  EXPECT_EQ(owner(own("other")), ::geteuid());
}

TEST_F(HandOver, TheAttemptsFolderStaysAndItsTemporaryFilesAreTheUsers) {
  make("attempts/0001/worker.json");
  make("attempts/0001/launch.json");
  const auto attempt = own("attempts/0001");
  ASSERT_TRUE(make_folders(attempt / "tmp"));
  ASSERT_TRUE(hand_over_attempt(program_, Folder::open(attempt).value()));
  EXPECT_EQ(owner(attempt), ::geteuid());
  EXPECT_EQ(owner(attempt / "tmp"), nobody);
  EXPECT_EQ(owner(attempt / "worker.json"), ::geteuid()) << "read, and not changed";
  EXPECT_EQ(look(attempt / "worker.json").st_gid, nobody);
  EXPECT_EQ(look(attempt / "launch.json").st_gid, ::getegid());
}

// Caches are purged by whatever names the program has left there.
TEST_F(HandOver, WhatIsDoneInItsFoldersStaysInThem) {
  const auto victim = folder_.path() / "victim";
  ASSERT_TRUE(make_folders(victim));
  ASSERT_TRUE(write_file_durably(victim / "data", "of root"));
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0711), 0);
  ASSERT_TRUE(hand_over_folders(program_, paths_));
  ASSERT_EQ(::symlink(victim.c_str(), own("cache/programs").c_str()), 0);
  const auto caches = paths_.caches("B1", "run");
  {
    const InItsFolders acting(program_, paths_);
    ASSERT_TRUE(acting) << acting.why().value().message();
    EXPECT_NE(purge_folders(caches), "") << "says that it stays";
  }
  EXPECT_TRUE(std::filesystem::exists(victim / "data"));
  EXPECT_EQ(purge_folders(caches), "") << "as root it would have gone";
  EXPECT_FALSE(std::filesystem::exists(victim / "data"));
}

TEST_F(HandOver, AStateFolderThatItsUserCannotReachIsNamed) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  const InItsFolders acting(program_, paths_);
  ASSERT_FALSE(acting);
  EXPECT_NE(acting.why().value().message().find("user 'nobody' cannot enter it"),
            std::string::npos);
}

TEST_F(HandOver, WithoutAUserNothingChanges) {
  program_.user.reset();
  ASSERT_TRUE(hand_over_folders(program_, paths_));
  EXPECT_EQ(owner(own("checkpoints")), ::geteuid());
  EXPECT_EQ(look(paths_.state).st_mode & 07U, 0U);
}

}  // namespace
}  // namespace trainward::daemon
