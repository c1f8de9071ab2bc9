#include "supervisor/daemon/loop/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/os/file.hpp"
#include "common/os/pipe.hpp"
#include "supervisor/daemon/loop/child_process.hpp"
#include "supervisor/daemon/loop/own_limits.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class SpawnTest : public ::testing::Test {
 protected:
  // What the shell prints, with its standard output as descriptor 1.
  static std::string shell(const std::string& script, std::vector<int> more = {}) {
    auto out = make_pipe().value();
    const auto null = open_file("/dev/null", O_RDWR).value();
    std::vector<int> fds{null.get(), out.write.get(), null.get()};
    fds.insert(fds.end(), more.begin(), more.end());
    const auto pid = spawn({"sh", "-c", script}, fds);
    EXPECT_TRUE(pid.has_value()) << pid.error().message();
    out.write.reset();
    std::string text;
    char part[512];
    for (ssize_t got = 0; (got = ::read(out.read.get(), part, sizeof(part))) > 0;) {
      text.append(part, static_cast<std::size_t>(got));
    }
    if (pid) ::waitpid(*pid, nullptr, 0);
    return text;
  }
};

TEST_F(SpawnTest, AProgramHasTheDescriptorsGivenAndNoOthers) {
  const auto file = open_file("/etc/passwd", O_RDONLY).value();
  const int leaked = ::open("/etc/hostname", O_RDONLY);                         // not close-on-exec
  EXPECT_EQ(shell("exec ls -1 /proc/$$/fd", {file.get()}), "0\n1\n2\n3\n4\n");  // 4: the folder
  EXPECT_EQ(shell("readlink /proc/$$/fd/3", {file.get()}), "/etc/passwd\n");
  ::close(leaked);
}

TEST_F(SpawnTest, DescriptorsMayTradePlaces) {
  const auto one = make_pipe().value();
  const auto null = open_file("/dev/null", O_RDWR).value();
  // In the child 0 is what 1 was here, and the other way round.
  const auto pid = spawn({"true"}, {1, 0, 2});
  ASSERT_TRUE(pid.has_value());
  int status = 0;
  ::waitpid(*pid, &status, 0);
  EXPECT_EQ(status, 0);
}

// A reset that leaves a process behind would leave the board busy for as long as that lives.
TEST_F(SpawnTest, WhatACommandLeavesBehindEndsWithIt) {
  const TemporaryFolder folder;
  const std::string fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK));  // ends when its writers have
  ASSERT_TRUE(reader.get() >= 0);
  Loop loop;
  int code = -1;
  const ChildProcess child(loop, {"sh", "-c", "exec 9>" + fifo + "; sleep 1000 & exit 0"}, 60'000,
                           [&](const Result<ChildResult>& result) {
                             if (result) code = result->exit_code;
                             loop.stop();
                           });
  loop.run();
  EXPECT_EQ(code, 0);
  pollfd ended{reader.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
  EXPECT_TRUE((ended.revents & POLLHUP) != 0);
}

TEST_F(SpawnTest, WantOfDescriptorsIsNamedWithWhatToDo) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto null = open_file("/dev/null", O_RDWR).value();
  const std::vector<int> fds(20, null.get());
  // So that all that this process needs for it is there, and not what the child does.
  const rlimit tight{static_cast<rlim_t>(null.get()) + 8, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto pid = spawn({"true"}, fds);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(pid.has_value());
  EXPECT_EQ(pid.error().kind, ErrorKind::transient);
  EXPECT_NE(pid.error().message().find("Too many open files"), std::string::npos);
  EXPECT_NE(pid.error().message().find("LimitNOFILE="), std::string::npos);
}

TEST_F(SpawnTest, WhatIsNotThereIsAnErrorAndNoChild) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // of other tests
  }
  const auto pid = spawn({"/nowhere/program"}, {0, 1, 2});
  ASSERT_FALSE(pid.has_value());
  EXPECT_EQ(pid.error().what, "cannot start the program: No such file or directory");
  EXPECT_LE(::waitpid(-1, nullptr, WNOHANG), 0) << "a child was left";
}

TEST_F(SpawnTest, SignalsAreAsInANewProcess) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  EXPECT_EQ(shell("grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\n\\t '"),
            "SigBlk:0000000000000000SigIgn:0000000000000000");
  ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

TEST_F(SpawnTest, AProgramGetsTheLimitOnOpenFilesThatWasThereBefore) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_descriptor_limit();
  rlimit raised{};
  ::getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, std::min<rlim_t>(before.rlim_max, 65'536));
  EXPECT_EQ(shell("ulimit -Sn"), "256\n");
  // Also when what it is given has a higher number than the limit.
  const auto file = open_file("/etc/passwd", O_RDONLY).value();
  const Fd high(::fcntl(file.get(), F_DUPFD_CLOEXEC, 300));
  EXPECT_EQ(shell("readlink /proc/$$/fd/3; ulimit -Sn", {high.get()}), "/etc/passwd\n256\n");
  restore_limits();
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, 256U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(SpawnTest, AProgramMayLeaveACoreFileWhereTheDaemonLeavesNone) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const rlimit some{std::min<rlim_t>(before.rlim_max, 1 << 20), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &some), 0);
  const std::string wanted = shell("ulimit -Sc; ulimit -Hc");
  leave_no_core();
  rlimit now{};
  ::getrlimit(RLIMIT_CORE, &now);
  EXPECT_EQ(now.rlim_cur, 0U);
  EXPECT_EQ(shell("ulimit -Sc; ulimit -Hc"), wanted);
  restore_limits();
  ::getrlimit(RLIMIT_CORE, &now);
  EXPECT_EQ(now.rlim_cur, some.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &before), 0);
}

}  // namespace
}  // namespace trainward::daemon
