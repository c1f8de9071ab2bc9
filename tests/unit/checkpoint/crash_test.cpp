// A power failure at any one call of a save leaves the checkpoint before it, or the new one. Random
// instants and other faults: torture_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "checkpoint/checkpoint.hpp"
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
