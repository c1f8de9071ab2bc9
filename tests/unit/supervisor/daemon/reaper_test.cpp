#include "supervisor/daemon/loop/reaper.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace trainward::daemon {
namespace {

bool is_gone(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
         errno == ECHILD;
}

// A child that ended while one image of the daemon became the next told nobody: no handler was
// there for its SIGCHLD.
TEST(Reaper, WhatEndedBeforeItBeganIsTakenToo) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  Loop loop;
  const Reaper reaper(loop);
  Timer tick(loop);
  int left = 500;
  const std::function<void()> look = [&] {
    if (is_gone(pid) || --left == 0) return loop.stop();
    tick.after(20, look);
  };
  tick.after(20, look);
  loop.run();
  EXPECT_TRUE(is_gone(pid));
}

}  // namespace
}  // namespace trainward::daemon
