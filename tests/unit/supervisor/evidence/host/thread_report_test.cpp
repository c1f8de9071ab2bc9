// What the threads of a worker are doing: fake trees, and real sleepers.
#include "supervisor/evidence/host/thread_report.hpp"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <chrono>

#include "fake_host.hpp"

namespace trainward::host {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ThreadReport : public FakeHost {
 protected:
  void put(pid_t process, pid_t thread, const std::string& file, const std::string& text) const {
    write(fmt::format("proc/{}/task/{}/{}", process, thread, file), text);
  }
};

TEST_F(ThreadReport, LikeOnesAreCountedAndStuckOnesComeFirst) {
  write_process({.pid = 10, .name = "python", .children = "50"});
  put(10, 10, "wchan", "do_wait");
  for (pid_t thread = 11; thread < 48; ++thread) {
    write_thread(10, thread, fmt::format("pool-{}", thread), 'S');
    put(10, thread, "wchan", "futex_wait_queue");
    put(10, thread, "syscall", "running\n");
  }
  write_process({.pid = 50, .parent = 10, .name = "loader", .state = 'D'});
  put(50, 50, "wchan", "nfs_wait_bit_killable\n");
  put(50, 50, "stack",
      "[<0>] rpc_wait_bit_killable+0x1e/0xa0\n[<0>] nfs_file_read+0x5c/0xa0 [nfs]\n"
      "[<0>] vfs_read+0xbb/0x360\n[<0>] ksys_read+0x66/0xe0\n");
  EXPECT_EQ(thread_report(root(), 10),
            "process 50 (loader): main thread D, uninterruptible, in rpc_wait_bit_killable < "
            "nfs_file_read < vfs_read. process 10 (python): main thread sleeping in do_wait; "
            "37 threads sleeping in futex_wait_queue");
}

TEST_F(ThreadReport, WithoutRightsOnlyTheState) {
  write_process({.pid = 10, .state = 'R'});
  write_thread(10, 11, "helper", 'S');
  put(10, 11, "wchan", "0");
  EXPECT_EQ(
      thread_report(root(), 10),
      "process 10 (python): main thread running; thread 11 (helper) sleeping somewhere in the "
      "kernel");
}

TEST_F(ThreadReport, IsNeverLong) {
  write_process({.pid = 10});
  for (pid_t thread = 11; thread < 1100; ++thread) {
    write_thread(10, thread, std::string(60, 'n'), 'S');
    put(10, thread, "wchan", std::string(200, static_cast<char>('a' + thread % 26)));
  }
  const std::string report = thread_report(root(), 10);
  EXPECT_EQ(report.size(), 2000U);
  EXPECT_THAT(report, testing::EndsWith("..."));
}

TEST_F(ThreadReport, RubbishIsShownHarmlessly) {
  write_process({.pid = 10, .name = "\x1b[2J\n\xff"});
  put(10, 10, "wchan", "\xff\xff\xff\xff");
  put(10, 10, "syscall", "18446744073709551615 x");
  put(10, 10, "stack", "\n\n\xff\n");
  EXPECT_EQ(thread_report(root(), 10),
            "process 10 (?[2J?"
            "?): main thread sleeping in ?"
            "?"
            "?"
            "? (system call 9223372036854775807)");
  write("proc/10/task/10/stat", "x");
  EXPECT_EQ(thread_report(root(), 10), "");
  EXPECT_EQ(thread_report(root(), 4711), "");
}

TEST_F(ThreadReport, SystemCallsHaveNames) {
  write_process({.pid = 10});
  const auto report = [this](int call) {
    put(10, 10, "syscall", fmt::format("{} 0x7f00 0x0\n", call));
    return thread_report(root(), 10);
  };
  const std::string sleeps = "process 10 (python): main thread sleeping ";
  EXPECT_EQ(report(SYS_futex), sleeps + "(futex)");
  EXPECT_EQ(report(SYS_ioctl), sleeps + "(ioctl)");
  EXPECT_EQ(report(99999), sleeps + "(system call 99999)");
}

TEST(RealThreads, ASleepersWaitIsNamed) {
  const Child child([] {});
  ASSERT_TRUE(child.wait_ready());
  // It says that it is ready a moment before it sleeps.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string report;
  while (report.find("sleeping") == std::string::npos &&
         std::chrono::steady_clock::now() < deadline) {
    report = thread_report("/", child.pid());
  }
  EXPECT_THAT(report,
              StartsWith(fmt::format("process {} (host_test): main thread sleeping", child.pid())));
  if (report.find("somewhere in the kernel") != std::string::npos) {
    GTEST_SKIP() << "where a process waits is not shown to us here: " << report;
  }
  EXPECT_THAT(report, HasSubstr("read"));
}

}  // namespace
}  // namespace trainward::host
