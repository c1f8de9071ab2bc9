// The dead-man ping: only while something is kept, or nothing is meant to be.
#include "fixture.hpp"
#include "supervisor/courier/jobs/channels/wellness.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using testing::HasSubstr;

class Ping : public ChannelTest {
 protected:
  void program(const std::string& state) {
    store::ProgramRow row;
    row.name = "trainer";
    row.state = state;
    row.changed_ms = now_ms_;
    ASSERT_TRUE(store_->put_program(row));
  }
  void attempt(std::int64_t number, std::int64_t at_ms, const std::string& cause = "") {
    store::AttemptRow row;
    row.program = "trainer";
    row.number = number;
    row.nonce = "n" + std::to_string(number);
    row.intended_ms = at_ms;
    row.started_ms = at_ms;
    row.ended_ms = cause.empty() ? 0 : at_ms + 1;
    row.cause = cause;
    ASSERT_TRUE(store_->put_attempt(row));
  }
  void kept(std::int64_t step, std::int64_t at_ms, std::int64_t attempt) {
    store::CheckpointRow row;
    row.path = "step" + std::to_string(step);
    row.step = step;
    row.attempt = attempt;
    row.state = "verified";
    row.at_ms = at_ms;
    ASSERT_TRUE(store_->put_checkpoint("trainer", row));
  }
  bool well() {
    const auto found = wellness(*store_, now_ms_, 4 * hour);
    EXPECT_TRUE(found) << found.error().message();
    words_ = found ? found->words : "";
    return found && found->well;
  }
  static constexpr std::int64_t hour = 3'600'000;
  std::string words_;
};

TEST_F(Ping, NothingToDoIsWell) {
  EXPECT_TRUE(well());
  program("RUNNING");
  attempt(1, now_ms_);
  EXPECT_TRUE(well()) << words_;
}

TEST_F(Ping, AProcessThatLivesIsNotEnough) {
  program("RUNNING");
  attempt(1, now_ms_);
  now_ms_ += 4 * hour + 1;
  EXPECT_FALSE(well());
  EXPECT_THAT(words_, HasSubstr("trainer: nothing new was kept for 4 h"));
  kept(100, now_ms_ - hour, 1);
  EXPECT_TRUE(well()) << words_;
  EXPECT_THAT(words_, HasSubstr("step 100"));
}

TEST_F(Ping, ACrashLoopIsNoProgress) {
  program("BACKOFF");
  for (int i = 1; i <= 20; ++i) {
    attempt(i, now_ms_, "worker_crash");
    now_ms_ += hour / 2;
  }
  EXPECT_FALSE(well());
}

TEST_F(Ping, TheSameStepsOnceMoreAreNoProgress) {
  program("RUNNING");
  attempt(1, now_ms_, "worker_crash");
  kept(500, now_ms_, 1);
  now_ms_ += 5 * hour;
  attempt(2, now_ms_ - hour);
  kept(300, now_ms_, 2);
  EXPECT_FALSE(well());
  kept(501, now_ms_, 2);
  EXPECT_TRUE(well());
}

TEST_F(Ping, WhatWasStartedAnewHasTime) {
  program("RUNNING");
  attempt(1, now_ms_, "stopped");
  now_ms_ += 100 * hour;
  attempt(2, now_ms_);
  EXPECT_TRUE(well());
}

TEST_F(Ping, APlannedPauseAndTheEndAreWellAndFatalIsNot) {
  program("RUNNING");
  attempt(1, now_ms_, "done");
  now_ms_ += 100 * hour;
  for (const char* state : {"STOPPED", "STOPPING", "EXITED"}) {
    program(state);
    EXPECT_TRUE(well()) << state;
  }
  for (const char* state : {"FATAL", "UNKILLABLE"}) {
    program(state);
    EXPECT_FALSE(well()) << state;
    EXPECT_THAT(words_, HasSubstr(state));
  }
}

TEST_F(Ping, ComesEachMinuteAndStopsWhenAllIsNotWell) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  program("RUNNING");
  attempt(1, now_ms_);
  auto spec = channel(ChannelKind::ping, server.url(""));
  spec.texts["form"] = "healthchecks";
  begin(spec);
  work_until(now_ms_ + 10 * 60'000);
  EXPECT_EQ(server.requests().size(), 11U);
  EXPECT_EQ(server.requests()[0].target, "/" + std::string(secret));
  program("FATAL");
  work_until(now_ms_ + 10 * 60'000);
  EXPECT_EQ(server.requests().size(), 11U);
  EXPECT_THAT(string_or(channel_row(), "error", ""), HasSubstr("not sent, as all is not well"));
  EXPECT_EQ(int_or(channel_row(), "failing_since_ms", -1), 0);
}

TEST_F(Ping, ThatFailsIsTriedSoonAgainAndCountsAsFailing) {
  HttpScript server{{.status = 500}, {}};
  program("STOPPED");
  auto spec = channel(ChannelKind::ping, server.url(""));
  spec.texts["form"] = "uptime-kuma";
  begin(spec);
  EXPECT_GT(int_or(channel_row(), "failing_since_ms", 0), 0);
  work_until(now_ms_ + 10'000);
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(int_or(channel_row(), "failing_since_ms", -1), 0);
  EXPECT_THAT(server.requests()[1].target, HasSubstr("?status=up&msg=trainer"));
}

}  // namespace
}  // namespace trainward::courier
