#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <set>

#include "supervisor/courier/upload/upload_policy.hpp"

namespace trainward::upload {
namespace {

Candidate saved(std::int64_t step, std::int64_t at_ms, bool milestone = false) {
  return {"/c/step-" + std::to_string(step), "step-" + std::to_string(step), step, at_ms,
          milestone};
}

Known row(const Candidate& what, std::string state, std::int64_t began_ms) {
  Known out;
  out.name = what.name;
  out.step = what.step;
  out.state = std::move(state);
  out.saved_ms = what.at_ms;
  out.began_ms = began_ms;
  out.bytes = 100;
  return out;
}

std::int64_t next_step(const Situation& situation) {
  const Decision decision = decide(situation);
  return decision.next ? decision.next->step : -1;
}

TEST(Policy, TheNewestGoesFirstAndWhatLiesBeforeItIsPassedOver) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100), saved(2, 200), saved(3, 300)};
  EXPECT_EQ(next_step(s), 3);
  s.known = {row(s.candidates[2], "done", 400)};
  EXPECT_EQ(next_step(s), -1) << "nothing goes back";
  s.candidates.push_back(saved(4, 500));
  EXPECT_EQ(next_step(s), 4);
}

TEST(Policy, MilestonesAreNeverPassedOver) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(100, 100, true), saved(150, 200), saved(200, 300, true), saved(250, 400)};
  for (const std::int64_t step : {250, 200, 100}) {
    ASSERT_EQ(next_step(s), step);
    const Candidate what = *decide(s).next;
    s.known.push_back(row(what, "done", ++s.now_ms));
  }
  EXPECT_EQ(next_step(s), -1);
}

TEST(Policy, WhatIsToLeaveWaitsForNoRhythm) {
  for (const bool milestones : {false, true}) {
    Situation s;
    s.now_ms = 1'000;
    s.cadence.every_ms = 3'600'000;
    s.cadence.milestones = milestones;
    s.candidates = {saved(10, 100), saved(20, 200), saved(30, 300)};
    s.known = {row(s.candidates[0], "done", 900)};
    EXPECT_EQ(next_step(s), -1);
    s.leaving = true;
    EXPECT_EQ(next_step(s), 30);
    s.known.push_back(row(s.candidates[2], "waiting", 950));
    s.known.back().next_ms = 5'000;
    EXPECT_EQ(next_step(s), -1);
    EXPECT_TRUE(decide(s).waits) << "it is still to leave";
    s.known.back().state = "done";
    EXPECT_FALSE(decide(s).waits);
    EXPECT_EQ(next_step(s), -1);
  }
}

TEST(Policy, MilestonesAlone) {
  Situation s;
  s.now_ms = 1'000;
  s.cadence.milestones = true;
  s.candidates = {saved(100, 100, true), saved(150, 200)};
  EXPECT_EQ(next_step(s), 100);
  s.known = {row(s.candidates[0], "done", 300)};
  EXPECT_EQ(next_step(s), -1);
  s.candidates[1].milestone = true;
  EXPECT_EQ(next_step(s), 150) << "the last of a run";
}

TEST(Policy, OneInSoLong) {
  Situation s;
  s.cadence.every_ms = 1'000;
  s.candidates = {saved(1, 100), saved(2, 900)};
  s.known = {row(s.candidates[0], "done", 500)};
  s.now_ms = 1'000;
  EXPECT_EQ(next_step(s), -1);
  EXPECT_EQ(decide(s).again_ms, 1'500);
  s.now_ms = 1'500;
  EXPECT_EQ(next_step(s), 2);
  s.now_ms = 1'000;
  s.asked = true;
  EXPECT_EQ(next_step(s), 2) << "somebody asked";
}

TEST(Policy, TheFirstBeyondEachMultiple) {
  Situation s;
  s.now_ms = 1'000;
  s.cadence.every_steps = 100;
  s.candidates = {saved(110, 100), saved(190, 200)};
  s.known = {row(s.candidates[0], "done", 150)};
  EXPECT_EQ(next_step(s), -1);
  s.candidates.push_back(saved(230, 300));
  EXPECT_EQ(next_step(s), 230);
  s.candidates.push_back(saved(90, 400));
  EXPECT_EQ(next_step(s), 90) << "a run that was taken back";
}

TEST(Policy, WhatWasBegunIsFinishedWhereItIsWorthIt) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100), saved(2, 200)};
  s.known = {row(s.candidates[0], "sending", 150)};
  s.known[0].sent_bytes = 40;
  EXPECT_EQ(next_step(s), 2);
  EXPECT_EQ(decide(s).stale, std::vector<std::string>{"step-1"});
  s.known[0].sent_bytes = 60;
  EXPECT_EQ(next_step(s), 1);
  EXPECT_TRUE(decide(s).stale.empty());
  // Unless a newer one has gone up meanwhile: a second commit for nothing.
  s.known.push_back(row(s.candidates[1], "done", 160));
  EXPECT_EQ(next_step(s), -1);
  EXPECT_EQ(decide(s).stale, std::vector<std::string>{"step-1"});
  s.known.pop_back();
  s.candidates.erase(s.candidates.begin());
  EXPECT_EQ(decide(s).stale, std::vector<std::string>{"step-1"}) << "it is not there any more";
}

TEST(Policy, WhatFailedWaits) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100)};
  s.known = {row(s.candidates[0], "waiting", 150)};
  s.known[0].next_ms = 5'000;
  EXPECT_EQ(next_step(s), -1);
  EXPECT_EQ(decide(s).again_ms, 5'000);
  s.now_ms = 5'000;
  EXPECT_EQ(next_step(s), 1);
}

TEST(Policy, TheSameNameSavedAnewIsAnotherOne) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 500)};
  s.known = {row(saved(1, 100), "done", 150)};
  EXPECT_EQ(next_step(s), 1);
}

TEST(Policy, OneThatFailedIsGivenUpForANewerOne) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100), saved(2, 200)};
  s.known = {row(s.candidates[0], "failed", 150)};
  s.known[0].sent_bytes = 60;
  s.known[0].next_ms = 5'000;
  EXPECT_EQ(next_step(s), 2);
  EXPECT_EQ(decide(s).stale, std::vector<std::string>{"step-1"}) << "it is never tried again";
  s.candidates[0].milestone = true;
  EXPECT_TRUE(decide(s).stale.empty());
  s.candidates = {s.candidates[0]};
  s.candidates[0].milestone = false;
  EXPECT_TRUE(decide(s).stale.empty()) << "nothing newer is there";
}

TEST(Policy, WhatIsDamagedThereGoesAgainWhenSomebodyAsks) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100)};
  s.known = {row(s.candidates[0], "done", 150)};
  s.asked = true;
  EXPECT_EQ(next_step(s), -1);
  s.known[0].damaged = true;
  EXPECT_EQ(next_step(s), 1);
  s.asked = false;
  EXPECT_EQ(next_step(s), -1);
}

// Somebody pinned it after it had gone up.
TEST(Policy, WhatBecameAMilestoneIsTagged) {
  Situation s;
  s.now_ms = 1'000;
  s.candidates = {saved(1, 100, true), saved(2, 200)};
  s.known = {row(s.candidates[0], "done", 150), row(s.candidates[1], "done", 250)};
  EXPECT_EQ(next_step(s), -1) << "where there are no tags there is nothing to do";
  s.has_tags = true;
  EXPECT_EQ(next_step(s), 1);
  s.known[0].milestone = true;
  EXPECT_EQ(next_step(s), -1);
}

// The clock was a year ahead, and somebody set it.
TEST(Policy, TimesThatHaveNotComeHoldNothingUp) {
  constexpr std::int64_t year = std::int64_t{365} * 24 * 3600 * 1000;
  Situation s;
  s.now_ms = 2 * year;
  s.candidates = {saved(100, 3 * year), saved(200, s.now_ms - 10)};
  s.known = {row(s.candidates[0], "done", 3 * year)};
  EXPECT_EQ(next_step(s), 200);
  s.cadence.every_ms = 1'000;
  EXPECT_EQ(next_step(s), 200);
  s.known.push_back(row(s.candidates[1], "waiting", s.now_ms));
  s.known[1].next_ms = 3 * year;
  EXPECT_EQ(next_step(s), 200);
}

TEST(Policy, TheWindow) {
  const orders::Window night{22 * 60, 7 * 60};
  EXPECT_EQ(until_open_ms(night, 23 * 60), 0);
  EXPECT_EQ(until_open_ms(night, 0), 0);
  EXPECT_EQ(until_open_ms(night, 7 * 60), 15 * 60 * 60'000);
  EXPECT_EQ(until_open_ms(night, 21 * 60 + 59), 60'000);
  EXPECT_EQ(until_open_ms(std::nullopt, 600), 0);
  Situation s;
  s.candidates = {saved(1, 100)};
  s.window = night;
  s.minute_of_day = 12 * 60;
  EXPECT_TRUE(decide(s).held);
  s.asked = true;
  EXPECT_FALSE(decide(s).held);
}

// Whatever comes in whatever order: nothing goes up twice, every milestone does in the end, and the
// newest is never left behind by the rhythm "each one".
TEST(Policy, HoldsForAnyRun) {
  const auto seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const auto chance = [&](int of) { return random() % static_cast<unsigned>(of) == 0; };
  for (int run = 0; run < 300; ++run) {
    Situation s;
    std::multiset<std::string> done;
    std::int64_t step = 0;
    for (int turn = 0; turn < 60; ++turn) {
      s.now_ms += 10;
      if (chance(2)) {
        step = chance(9) ? std::max<std::int64_t>(step - 3, 1) : step + 1;
        std::erase_if(s.candidates, [&](const Candidate& one) { return one.step == step; });
        s.candidates.push_back(saved(step, s.now_ms, step % 5 == 0));
      }
      const Decision decision = decide(s);
      for (const std::string& stale : decision.stale) {
        for (Known& known : s.known) {
          if (known.name == stale && known.state != "done") known.state = "stale";
        }
      }
      if (!decision.next) continue;
      const Candidate& what = *decision.next;
      std::erase_if(s.known, [&](const Known& one) { return one.name == what.name; });
      const bool works = !chance(3);
      s.known.push_back(row(what, works ? "done" : "waiting", s.now_ms));
      if (!works) s.known.back().next_ms = s.now_ms + 20;
      if (works) done.insert(what.name + "@" + std::to_string(what.at_ms));
    }
    for (int turn = 0; turn < 200; ++turn) {
      s.now_ms += 100;
      const Decision decision = decide(s);
      if (!decision.next) break;
      const Candidate what = *decision.next;
      std::erase_if(s.known, [&](const Known& one) { return one.name == what.name; });
      s.known.push_back(row(what, "done", s.now_ms));
      done.insert(what.name + "@" + std::to_string(what.at_ms));
    }
    std::int64_t newest = -1;
    for (const Candidate& candidate : s.candidates) {
      const std::string name = candidate.name + "@" + std::to_string(candidate.at_ms);
      ASSERT_LE(done.count(name), 1U) << name;
      if (candidate.milestone) {
        ASSERT_EQ(done.count(name), 1U) << name;
      }
      newest = std::max(newest, candidate.at_ms);
    }
    for (const Candidate& candidate : s.candidates) {
      if (candidate.at_ms != newest) continue;
      const std::string name = candidate.name + "@" + std::to_string(newest);
      ASSERT_EQ(done.count(name), 1U) << name;
    }
  }
}

}  // namespace
}  // namespace trainward::upload
