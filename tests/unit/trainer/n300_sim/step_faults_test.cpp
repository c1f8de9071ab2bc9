#include "trainer/n300_sim/step_faults.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainward::n300 {
namespace {

const std::vector<std::string> one_step = {"embed",      "block_forward",  "block_forward",
                                           "head",       "block_backward", "update_block",
                                           "update_head"};

TEST(StepCounter, AStepBeginsAfterTheUpdates) {
  StepCounter steps;
  std::vector<std::string> first;
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(steps.done(), k == 0 ? 0 : k - 1);
    for (const std::string& program : one_step) {
      if (steps.runs(program)) first.push_back(program);
      EXPECT_EQ(steps.done(), k);
    }
  }
  EXPECT_EQ(first, (std::vector<std::string>{"embed", "embed", "embed"}));
}

TEST(StepCounter, AnUpdateAtTheStartIsAStep) {
  StepCounter steps;
  EXPECT_TRUE(steps.runs("update_block"));
  EXPECT_FALSE(steps.runs("update_head"));
  EXPECT_TRUE(steps.runs("embed"));
  EXPECT_EQ(steps.done(), 1);
}

TEST(StepFaults, StrikesWhenItsStepBegins) {
  FaultScript script;
  script.hang = Moment{2, 1};
  script.ethernet_loss = Moment{2, 2};
  StepFaults faults(script, 2);
  std::vector<Fate> fates;
  for (int step = 0; step < 3; ++step) {
    for (const std::string& program : one_step) {
      const Turn turn = faults.next(program);
      if (turn.begins_step) fates.push_back(turn.fate);
      EXPECT_TRUE(turn.begins_step || turn.fate == Fate::runs);
    }
  }
  EXPECT_EQ(fates, (std::vector<Fate>{Fate::runs, Fate::hangs, Fate::loses_ethernet}));
}

TEST(StepFaults, OnlyInItsAttempt) {
  FaultScript script;
  script.abort = Moment{1, 0};
  EXPECT_EQ(StepFaults(script, 1).next("embed").fate, Fate::aborts);
  EXPECT_EQ(StepFaults(script, 2).next("embed").fate, Fate::runs);
  EXPECT_EQ(StepFaults(script, 0).next("embed").fate, Fate::runs);
}

TEST(StepFaults, ABitFlipsInTheFirstUpdateOfItsStep) {
  FaultScript script;
  script.flip = Flip{{1, 1}, "L", 0};
  StepFaults faults(script, 1);
  std::vector<int> flips;
  int number = 0;
  for (int step = 0; step < 3; ++step) {
    for (const char* program : {"embed", "block_forward", "update_block", "update_block"}) {
      if (faults.next(program).flips) flips.push_back(number);
      ++number;
    }
  }
  EXPECT_EQ(flips, std::vector<int>{6});
}

}  // namespace
}  // namespace trainward::n300
