// A writer that is killed at any instant leaves the checkpoint it acknowledged, or a newer one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <new>
#include <random>

#include "checkpoint/retention.hpp"
#include "support.hpp"
#include "system_calls.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::Event;
using testing::intercepted;
using testing::Interception;
using testing::Medium;
using testing::names_in;
using testing::Sample;
using testing::ScratchFolder;

// Shared with a child, and still there when the child is not.
class Acknowledged {
  using Step = std::atomic<std::int64_t>;

 public:
  Acknowledged()
      : step_(new (::mmap(nullptr, sizeof(Step), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0)) Step(0)) {}
  Acknowledged(const Acknowledged&) = delete;
  Acknowledged& operator=(const Acknowledged&) = delete;
  ~Acknowledged() { ::munmap(step_, sizeof(Step)); }
  Step& operator*() { return *step_; }

 private:
  Step* step_;
};

// Runs `work` in a child and returns its wait status.
int in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

// The kernel kills this process after the given time, wherever it is then.
void kill_me_after(std::int64_t microseconds) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  itimerspec when{};
  when.it_value.tv_sec = microseconds / 1'000'000;
  when.it_value.tv_nsec = microseconds % 1'000'000 * 1000;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      ::timer_settime(timer, 0, &when, nullptr) != 0) {
    ::_exit(10);
  }
}

// Saves, replaces and prunes until the kernel ends it; tells which step was the last to be safe.
void write_until_killed(const fs::path& root, std::int64_t first, Acknowledged& acknowledged) {
  for (std::int64_t step = first;; ++step) {
    if (!save(root, Sample(step).contents())) ::_exit(11);
    *acknowledged = step;
    if (step % 3 == 0 && !save(root, Sample(step, 2).contents())) ::_exit(12);
    if (!prune(root, {})) ::_exit(13);
  }
}

void kill_at_random_instants(Medium medium, int rounds, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  ScratchFolder scratch(medium);
  const fs::path root = scratch.path();
  Acknowledged acknowledged;
  // Follows the speed of the disk, so that about as many rounds end within the first save as later.
  std::uint64_t longest_us = 2'000;
  for (int round = 0; round < rounds; ++round) {
    const auto delay = static_cast<std::int64_t>(1 + random() % longest_us);
    const std::int64_t before = *acknowledged;
    const int status = in_child([&] {
      kill_me_after(delay);
      write_until_killed(root, before + 1, acknowledged);
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << ", exit " << WEXITSTATUS(status);
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
    if (*acknowledged == before) longest_us *= 2;
    if (*acknowledged > before + 3) longest_us /= 2;

    auto selection = select(root);
    ASSERT_TRUE(selection) << selection.error().message();
    ASSERT_TRUE(selection->rejected.empty()) << selection->rejected[0].reason;
    if (*acknowledged == 0 && !selection->chosen) continue;
    ASSERT_TRUE(selection->chosen) << "round " << round;
    EXPECT_GE(selection->chosen->step, *acknowledged) << "round " << round;
    EXPECT_TRUE(load(selection->chosen->path));
    *acknowledged = selection->chosen->step;
  }
  EXPECT_GT(*acknowledged, 0);
}

TEST(Crash, AnAcknowledgedCheckpointSurvivesAKillAtARandomInstant) {
  kill_at_random_instants(Medium::memory, 40, 20261120);
  kill_at_random_instants(Medium::disk, 10, 20261121);
}

// Kills a save before its first call, its second, … and lets every file that was not fsynced by
// then lose half of its bytes, as a power failure may.
void power_failure_at_each_call(std::int64_t step, bool can_exchange) {
  for (int victim = 0;; ++victim) {
    ScratchFolder scratch(Medium::memory);
    const fs::path root = scratch.path();
    ASSERT_TRUE(save(root, Sample(1).contents()));
    ASSERT_TRUE(save(root, Sample(2).contents()));
    const int status = in_child([&] {
      int seen = 0;
      const Interception calls([&](const Event& event) {
        if (event.call == testing::Call::exchange && !can_exchange) return EINVAL;
        if (seen++ == victim) {
          testing::lose_unsynced_files();
          ::raise(SIGKILL);
        }
        return 0;
      });
      if (!save(root, Sample(step, 99).contents(), intercepted())) ::_exit(11);
    });
    auto selection = select(root);
    ASSERT_TRUE(selection) << selection.error().message();
    ASSERT_TRUE(selection->chosen) << "killed before call " << victim;
    EXPECT_GE(selection->chosen->step, 2) << "killed before call " << victim;
    EXPECT_TRUE(selection->rejected.empty()) << "killed before call " << victim;
    // The next save works and leaves nothing behind of the killed one.
    ASSERT_TRUE(save(root, Sample(4).contents()));
    for (const std::string& name : names_in(root)) {
      EXPECT_TRUE(name.starts_with("step-") || name.starts_with("latest")) << name;
    }
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      EXPECT_GT(victim, 15);
      return;
    }
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
  }
}

TEST(Crash, PowerFailureAtAnyCallOfANewSave) { power_failure_at_each_call(3, true); }

TEST(Crash, PowerFailureAtAnyCallOfAReplacingSave) { power_failure_at_each_call(2, true); }

TEST(Crash, PowerFailureAtAnyCallWhereFoldersCannotBeExchanged) {
  power_failure_at_each_call(2, false);
  power_failure_at_each_call(3, false);
}

}  // namespace
}  // namespace trainward::checkpoint
