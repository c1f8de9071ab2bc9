#include "common/os/processes/process_id.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/os/clock.hpp"

namespace trainward {
namespace {

TEST(ProcessId, IdentifiesThisProcessAlwaysTheSame) {
  const auto once = identify(::getpid());
  ASSERT_TRUE(once.has_value()) << once.error().message();
  EXPECT_EQ(*once, identify(::getpid()).value());
  EXPECT_GT(once->start_ticks, 0U);
  EXPECT_FALSE(once->boot.empty());
}

TEST(ProcessId, AReusedNumberIsAnotherProcess) {
  ProcessId other = identify(::getpid()).value();
  other.start_ticks += 1;
  EXPECT_FALSE(open_process(other).has_value());
  EXPECT_TRUE(open_process(identify(::getpid()).value()).has_value());
}

TEST(ProcessId, TheDescriptorBecomesReadableAtTheEnd) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto id = identify(child).value();
  const Fd fd = open_process(id).value();
  pollfd watched{fd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  ::kill(child, SIGKILL);
  EXPECT_EQ(::poll(&watched, 1, 10'000), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(open_process(id).has_value());
}

// It decides whether a worker lives, so it is known when no descriptor is left.
TEST(BootId, IsReadOnce) {
  const std::string known = boot_id();
  ASSERT_FALSE(known.empty());
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{0, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string again = boot_id();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(again, known);
}

}  // namespace
}  // namespace trainward
