// The digest: on days when something happened, else once a week.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "supervisor/decide/notify/notify_digest.hpp"
#include "times.hpp"

namespace trainward::notify {
namespace {

// Which digests are sent in `days`, when something happens on those days.
std::vector<Digest> sent_over(int days, const std::vector<int>& eventful) {
  const Policy policy;
  DigestMemory memory{midnight, midnight};
  std::vector<Digest> sent;
  for (int day = 0; day < days; ++day) {
    const std::int64_t due = *digest_due(policy, memory, utc);
    EXPECT_EQ(due, midnight + day * day_ms + 8 * hour_ms);
    const bool happened = std::ranges::find(eventful, day) != eventful.end();
    const Digest now = digest_now(memory, due, happened);
    memory.looked_ms = due;
    if (now == Digest::none) continue;
    memory.sent_ms = due;
    sent.push_back(now);
  }
  return sent;
}

TEST(Digests, AQuietFortnightSendsTheWeeklyOnesAlone) {
  EXPECT_EQ(sent_over(15, {}), (std::vector{Digest::weekly, Digest::weekly}));
}

TEST(Digests, ADayWhenSomethingHappenedHasItsOwn) {
  EXPECT_EQ(sent_over(5, {1, 2}), (std::vector{Digest::daily, Digest::daily}));
  EXPECT_EQ(sent_over(10, {2}), (std::vector{Digest::daily, Digest::weekly}));
}

// It was ahead by a year when it was thought of last; nobody waits for that year.
TEST(Digests, BeginAnewWhenTheClockIsSetBack) {
  const DigestMemory memory{1'000, 2'000};
  EXPECT_EQ(sound(memory, 3'000), memory);
  EXPECT_EQ(sound(memory, 1'500), (DigestMemory{1'500, 1'500}));
  EXPECT_EQ(sound({}, 3'000), (DigestMemory{3'000, 3'000}));
}

TEST(Digests, ThereIsNoneWhenNobodyWantsOne) {
  Policy policy;
  policy.digest.reset();
  EXPECT_EQ(digest_due(policy, {}, utc), std::nullopt);
}

TEST(Digests, WhatIsRememberedSurvives) {
  const DigestMemory memory{5, 7};
  EXPECT_EQ(digest_memory_from(to_json_text(memory)).value(), memory);
  EXPECT_EQ(digest_memory_from("").value(), DigestMemory{});
  EXPECT_FALSE(digest_memory_from("[").has_value());
}

TEST(Digests, SayWhatTheDayCameTo) {
  DigestFigures figures;
  figures.from_ms = midnight;
  figures.until_ms = midnight + day_ms;
  ProgramFigures program;
  program.row = {{"name", "trainer"},      {"state", "RUNNING"}, {"last_step", 1000},
                 {"target_step", 2000},    {"loss", 2.31},       {"effective_share", 0.87},
                 {"started_ms", midnight}, {"attempts", 18},     {"attempt", 18}};
  program.ends = {{"device_oom", 16}, {"hang", 1}};
  program.step_then = 500;
  program.step_now = 1000;
  program.loss_then = 2.5;
  program.loss_now = 2.31;
  program.held_out_then = 2.6;
  program.held_out_now = 2.4;
  figures.programs.push_back(program);
  figures.boards = {"0100c0c4: in quarantine"};
  figures.waited = {"trainer: device_oom, resumed from step 3,200"};
  const Message message = worded(figures, Policy{});
  EXPECT_EQ(message.title, "Digest: 1 program; nothing to do.");
  EXPECT_EQ(message.tier, Tier::info);
  EXPECT_EQ(message.text,
            "What happened since 2025-11-20 00:00:00 UTC: 1 program; nothing to do.\n"
            "trainer: RUNNING for 24 h, step 1,000 of 2,000, loss 2.310, effective 87 %, attempt "
            "18; nothing to do.\n"
            "  500 new steps, 500 to 1,000; 17 attempts ended: 16 device_oom, 1 hang; effective 87 "
            "%; loss 2.500 to 2.310; held-out loss 2.600 to 2.400; at this pace 2 d to go.\n"
            "Boards:\n  0100c0c4: in quarantine\n"
            "Not told one by one:\n  trainer: device_oom, resumed from step 3,200\n"
            "Look: trainwardctl status");
}

}  // namespace
}  // namespace trainward::notify
