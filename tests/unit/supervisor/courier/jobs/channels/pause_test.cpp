// When a channel is asked again after something that it did not take: whatever else is to be told
// meanwhile, and whoever tells it.
#include "common/base/random.hpp"
#include "fixture.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using test::HttpStep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t hour = 3'600'000;

class Pausing : public ChannelTest {
 protected:
  void another_courier(const orders::Channel& spec, std::uint64_t seed) {
    open_journal();
    job_ = make_channel_job(spec, {{"box", "run0"}, {}, seed});
  }
  void open_episode(std::int64_t id) {
    store::EpisodeRow row;
    row.program = "trainer";
    row.family = "other" + std::to_string(id);
    row.id = id;
    row.opened_ms = now_ms_;
    ASSERT_TRUE(store_->put_episode(row));
  }
};

// Of the same trouble or another, more urgent or not, with and without a new courier: no request
// before what was asked for is over.
TEST_F(Pausing, NothingNewerComesSoonerThanTheReceiverAsked) {
  for (const auto kind :
       {ChannelKind::webhook, ChannelKind::ntfy, ChannelKind::slack, ChannelKind::discord,
        ChannelKind::matrix, ChannelKind::telegram, ChannelKind::alertmanager}) {
    SCOPED_TRACE(orders::facts(kind).name);
    for (const std::uint64_t seed : {11U, 12U}) {
      SCOPED_TRACE(seed);
      SplitMix64 random(seed);
      bool up = false;
      HttpScript server([&](const test::HttpRequest&) -> HttpStep {
        if (up) return {};
        return {.status = 429, .headers = {{"Retry-After", "600"}}};
      });
      auto spec = channel(kind, server.url(""));
      spec.name = std::string(orders::facts(kind).name) + std::to_string(seed);
      begin(spec);
      const auto episode = static_cast<std::int64_t>(now_ms_);
      if (kind == ChannelKind::alertmanager) open_episode(episode);
      tell("first", "warning", episode);
      work();
      ASSERT_EQ(server.requests().size(), 1U);
      const std::int64_t asked_ms = now_ms_ + 600'000;
      up = true;
      std::int64_t last = 0;
      while (now_ms_ + 60'000 < asked_ms) {
        now_ms_ += static_cast<std::int64_t>(random.below(120'000));
        last = tell("newer", random.below(2) == 0 ? "critical" : "warning",
                    random.below(2) == 0 ? episode : 0);
        if (random.below(3) == 0) another_courier(spec, seed + 100);
        if (random.below(3) == 0) secret_file("token", secret);
        work();
        ASSERT_EQ(server.requests().size(), 1U) << (asked_ms - now_ms_) << " ms too soon";
      }
      work_until(asked_ms + 120'000);
      EXPECT_EQ(told(last).state, "sent");
      now_ms_ += 2 * hour;
    }
  }
}

TEST_F(Pausing, APingIsNotSentSoonerThanAskedEither) {
  HttpScript server{{.status = 429, .headers = {{"Retry-After", "600"}}}, {}};
  auto spec = channel(ChannelKind::ping, server.url(""));
  spec.texts["form"] = "healthchecks";
  begin(spec);
  ASSERT_EQ(server.requests().size(), 1U);
  another_courier(spec, 9);
  work_until(now_ms_ + 599'000);
  EXPECT_EQ(server.requests().size(), 1U);
  work_until(now_ms_ + 10'000);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Pausing, ItIsLongerAndLongerWhateverTakesThePlaceOfWhat) {
  HttpScript server([](const test::HttpRequest&) { return HttpStep{.status = 503}; });
  const auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  for (int i = 0; i < 360; ++i) {
    tell("crash " + std::to_string(i), "warning", 5);
    if (i % 40 == 39) another_courier(spec, 100U + static_cast<std::uint64_t>(i));
    work_until(now_ms_ + 10'000);
  }
  // 5, 15, 35, 75, 155, 315, 635, 1275 s, and then each 15 min.
  EXPECT_LT(server.requests().size(), 15U);
  EXPECT_GT(server.requests().size(), 7U);
}

// The receiver is back, and something is on fire.
TEST_F(Pausing, WhatIsCriticalDoesNotWaitBehindWhatIsNot) {
  bool up = false;
  HttpScript server([&](const test::HttpRequest&) { return HttpStep{.status = up ? 200 : 503}; });
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto info = tell("done", "info");
  work_until(now_ms_ + 2 * hour);
  up = true;
  const auto before = server.requests().size();
  tell("another", "info");
  const auto critical = tell("gave up", "critical");
  work_until(now_ms_ + 61'000);
  EXPECT_EQ(told(critical).state, "sent");
  EXPECT_EQ(told(info).state, "sent");
  ASSERT_EQ(server.requests().size(), before + 3);
  EXPECT_EQ(titles(server)[before], "gave up");
  EXPECT_EQ(titles(server)[before + 1], "done");
}

TEST_F(Pausing, OneRefusalLosesNothing) {
  for (const int status : {302, 401, 403, 404, 407, 410}) {
    SCOPED_TRACE(status);
    HttpScript server{{.status = status, .body = secret}, {}, {}};
    auto spec = channel(ChannelKind::ntfy, server.url(""));
    spec.name = "s" + std::to_string(status);
    begin(spec);
    const auto first = tell("gave up", "critical");
    const auto second = tell("crashed");
    work();
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(told(first).state, "waiting");
    EXPECT_THAT(told(first).error, HasSubstr("HTTP " + std::to_string(status)));
    EXPECT_THAT(job_->trouble().what, HasSubstr("HTTP " + std::to_string(status)));
    EXPECT_GE(job_->trouble().next_ms, now_ms_ + 600'000) << "not soon";
    work_until(now_ms_ + 600'000);
    EXPECT_EQ(server.requests().size(), 1U);
    work_until(now_ms_ + 600'000);
    EXPECT_EQ(told(first).state, "sent");
    EXPECT_EQ(told(second).state, "sent");
    EXPECT_EQ(job_->trouble().what, "");
    now_ms_ += hour;
  }
}

TEST_F(Pausing, WhatIsRefusedIsTriedForADayWithHoursBetween) {
  HttpScript server([](const test::HttpRequest&) { return HttpStep{.status = 403}; });
  begin(channel(ChannelKind::ntfy, server.url("")));
  const std::int64_t told_ms = now_ms_;
  const auto message = tell("gave up", "critical");
  work_until(now_ms_ + 23 * hour);
  EXPECT_EQ(told(message).state, "waiting");
  while (told(message).state == "waiting" && now_ms_ < told_ms + 48 * hour) now_ms_ = work();
  EXPECT_EQ(told(message).state, "failed");
  EXPECT_THAT(told(message).error, HasSubstr("given up after a day"));
  EXPECT_GE(now_ms_, told_ms + 24 * hour);
  EXPECT_GE(told(message).tries, 6);
  EXPECT_LE(told(message).tries, 14);
}

// Also by a courier that was not there when the old one was refused.
TEST_F(Pausing, ASecretThatIsReplacedIsTriedWithinAMinute) {
  for (const bool restarted : {false, true}) {
    HttpScript server([](const test::HttpRequest& request) {
      return HttpStep{.status = request.header("authorization") == "Bearer new" ? 200 : 403};
    });
    auto spec = channel(ChannelKind::ntfy, server.url(""));
    spec.name = restarted ? "restarted" : "same";
    begin(spec);
    const auto first = tell("gave up", "critical");
    const auto second = tell("crashed");
    work_until(now_ms_ + 10 * hour);
    const auto tried = server.requests().size();
    EXPECT_EQ(told(first).state, "waiting");
    if (restarted) another_courier(spec, 9);
    work_until(now_ms_ + 60'000);
    ASSERT_EQ(server.requests().size(), tried) << "a new courier is no reason";
    secret_file("token", "new\n");
    work_until(now_ms_ + 60'000);
    EXPECT_EQ(told(first).state, "sent");
    EXPECT_EQ(told(second).state, "sent");
    EXPECT_EQ(server.requests().size(), tried + 2);
    now_ms_ += hour;
  }
}

TEST_F(Pausing, OneThatIsRefusedForWhatItSaysHoldsUpNothingElse) {
  HttpScript server([](const test::HttpRequest& request) {
    return HttpStep{.status = request.body.find("poison") != std::string::npos ? 403 : 200};
  });
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto poison = tell("poison");
  work();
  std::vector<std::int64_t> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(tell("m" + std::to_string(i), i % 2 == 0 ? "critical" : "warning"));
    const std::int64_t most = i % 2 == 0 ? 65'000 : 1'200'000;
    work_until(now_ms_ + most);
    EXPECT_EQ(told(others.back()).state, "sent") << i;
  }
  EXPECT_EQ(told(poison).state, "waiting");
}

TEST_F(Pausing, WhatIsCriticalAndNotUnderstoodIsSaidOncePlainly) {
  struct Case {
    const char* name;
    int plainly;  // the answer to that
    const char* state;
  };
  for (const Case& one : {Case{"taken", 200, "sent"}, Case{"not", 400, "failed"}}) {
    SCOPED_TRACE(one.name);
    HttpScript server([&](const test::HttpRequest& request) {
      return HttpStep{.status = json_of(request.body).contains("blocks") ? 400 : one.plainly};
    });
    auto spec = channel(ChannelKind::slack, server.url(""));
    spec.name = one.name;
    begin(spec);
    const auto warning = tell("crashed");
    work();
    EXPECT_EQ(server.requests().size(), 1U) << "nobody has to act now";
    EXPECT_EQ(told(warning).state, "failed");
    const auto critical = tell("gave up", "critical");
    work_until(now_ms_ + 30 * hour);
    EXPECT_EQ(server.requests().size(), 3U);
    EXPECT_THAT(server.requests().back().body, HasSubstr("gave up"));
    EXPECT_EQ(told(critical).state, one.state);
    EXPECT_THAT(told(critical).error, HasSubstr("HTTP 400"));
    now_ms_ += hour;
  }
}

TEST_F(Pausing, AClockThatIsWrongIsSaidAndLosesNothing) {
  HttpScript server{{.status = 400, .headers = {{"Date", "Mon, 24 Nov 2025 15:00:00 GMT"}}}, {}};
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto message = tell("gave up", "critical");
  work();
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(told(message).state, "waiting");
  EXPECT_THAT(told(message).error, HasSubstr("ahead of its clock"));
  EXPECT_THAT(told(message).error, Not(HasSubstr("kind")));
  work_until(now_ms_ + 1'200'000);
  EXPECT_EQ(told(message).state, "sent");
}

}  // namespace
}  // namespace trainward::courier
