// The folder all state lies in: that it is there, and what may lie in it.
#include "supervisor/daemon/service/state_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/disk/latest.hpp"
#include "common/os/file.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/daemon/attempt/log_tail.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class StateFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { ::alarm(30); }  // ends the program where something waits for a pipe
  void TearDown() override { ::alarm(0); }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return folder_.path() / name; }
  TemporaryFolder folder_;
};

TEST_F(StateFolderTest, DeletedMovedOrReplacedItIsLost) {
  const auto file = path("state") / "lock";
  const Fd lock = take_lease(file).value();
  EXPECT_TRUE(check_lock_lies_at(lock.get(), file));
  std::filesystem::rename(path("state"), path("moved"));
  const auto moved = check_lock_lies_at(lock.get(), file);
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().what.find("deleted or moved"), std::string::npos);
  EXPECT_EQ(moved.error().where, path("state"));
  const Fd other = take_lease(file).value();
  EXPECT_NE(check_lock_lies_at(lock.get(), file).error().what.find("another folder"),
            std::string::npos);
  std::filesystem::remove_all(path("state"));
  std::filesystem::rename(path("moved"), path("state"));
  EXPECT_TRUE(check_lock_lies_at(lock.get(), file));
}

TEST_F(StateFolderTest, TheDaemonIsToldOnce) {
  const auto file = path("state") / "lock";
  const Fd lock = take_lease(file).value();
  Loop loop;
  int told = 0;
  const StateFolder watch(loop, lock.get(), file, [&](const Error& error) {
    ++told;
    EXPECT_EQ(error.kind, ErrorKind::permanent);
    loop.stop();
  });
  std::filesystem::remove_all(path("state"));
  loop.run();
  EXPECT_EQ(told, 1);
}

TEST_F(StateFolderTest, APipeIsNeverWaitedFor) {
  for (const char* name : {"lease", "latest", "stdout.log", attempt_files::journal}) {
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
  }
  EXPECT_EQ(take_lease(path("lease")).error().what, "is a pipe, not a file");
  EXPECT_EQ(checkpoint::read_latest(folder_.path()), "");
  EXPECT_EQ(LogTail(path("stdout.log")).read(100), "");
  const auto facts = containment::read_attempt(folder_.path());
  EXPECT_FALSE(facts.shim || facts.settled);
  EXPECT_FALSE(containment::shim_lives(folder_.path()));
}

TEST_F(StateFolderTest, LatestIsNotReadThroughALink) {
  ASSERT_TRUE(write_file_durably(path("secret"), "step-00000007\n"));
  std::filesystem::create_symlink(path("secret"), path("latest"));
  EXPECT_EQ(checkpoint::read_latest(folder_.path()), "");
  std::filesystem::remove(path("latest"));
  ASSERT_TRUE(checkpoint::point_latest(folder_.path(), "step-00000007"));
  EXPECT_EQ(checkpoint::read_latest(folder_.path()), "step-00000007");
}

}  // namespace
}  // namespace trainward::daemon
