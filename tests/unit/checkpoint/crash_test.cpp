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

// A replacement of step 2 that fails at call `fault`, then a save of step 3 and a power failure at
// its call `victim`, which takes back what no fsync has confirmed. Step 2 is there all the same, in
// its old or its new form. False when either call never comes.
enum class Disk { fails_once, fails_from_then_on };
bool survives_a_failed_replacement(int fault, Disk disk, bool can_exchange, int victim) {
  ScratchFolder scratch(Medium::memory);
  const fs::path& root = scratch.path();
  EXPECT_TRUE(save(root, Sample(1).contents()));
  EXPECT_TRUE(save(root, Sample(2).contents()));
  const int status = in_child([&] {
    int changes = 0;
    int seen = 0;
    bool replacing = true;
    const Interception calls([&](const Event& event) {
      if (event.call == testing::Call::exchange && !can_exchange) return EINVAL;
      if (!replacing) {
        if (seen++ < victim) return 0;
        testing::undo_unsynced_renames();
        ::raise(SIGKILL);
      }
      // What happens to names: everything before is about files nobody knows of yet.
      const bool names = event.call == testing::Call::rename ||
                         event.call == testing::Call::exchange || event.path == root.string();
      if (!names) return 0;
      const int change = changes++;
      return change == fault || (change > fault && disk == Disk::fails_from_then_on) ? EIO : 0;
    });
    if (save(root, Sample(2, 99).contents(), intercepted())) ::_exit(11);
    replacing = false;
    (void)save(root, Sample(3).contents(), intercepted());
  });
  auto selection = select(root);
  EXPECT_TRUE(selection && selection->chosen && selection->chosen->step >= 2)
      << "fault at change " << fault << (disk == Disk::fails_once ? "" : " and after it")
      << ", killed before call " << victim;
  return !WIFEXITED(status);
}

TEST(Crash, PowerFailureInTheSaveAfterAFailedReplacement) {
  for (const bool can_exchange : {true, false}) {
    for (const Disk disk : {Disk::fails_once, Disk::fails_from_then_on}) {
      int faults = 0;
      while (survives_a_failed_replacement(faults, disk, can_exchange, 0)) {
        for (int victim = 1;
             survives_a_failed_replacement(faults, disk, can_exchange, victim) && !HasFailure();) {
          ++victim;
        }
        ++faults;
      }
      EXPECT_GT(faults, 2);  // the hint may fail
    }
  }
}

}  // namespace
}  // namespace trainward::checkpoint
