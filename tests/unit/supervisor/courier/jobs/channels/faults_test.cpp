// Every fault of a network, at real servers: nothing is lost, order stays, and no error says a
// secret.
#include <algorithm>

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

class Faults : public ChannelTest {
 protected:
  // Told in the end, after `faulty` answers; what is behind it waits so long.
  void expect_told_after(ChannelKind kind, const HttpStep& fault, const std::string& state) {
    HttpScript server{fault, fault, {}, {}};
    begin(channel(kind, server.url("")));
    const auto first = tell("one");
    const auto second = tell("two");
    const std::int64_t next = work();
    EXPECT_EQ(told(first).state, "waiting");
    EXPECT_EQ(told(second).state, "waiting");
    EXPECT_THAT(told(first).error, Not(HasSubstr(secret)));
    EXPECT_FALSE(told(first).error.empty());
    EXPECT_EQ(int_or(channel_row(), "failing_since_ms", 0), 0 + now_ms_ + since_slack());
    EXPECT_GT(next, now_ms_);
    work_until(now_ms_ + 60'000);
    EXPECT_EQ(told(first).state, state);
    EXPECT_EQ(told(first).tries, 3);
    EXPECT_EQ(told(second).state, "sent");
    EXPECT_EQ(server.requests().size(), 4U);
    EXPECT_EQ(int_or(channel_row(), "failing_since_ms", -1), 0);
  }
  // The real time that the exchange took is added to the clock of the test.
  std::int64_t since_slack() {
    return int_or(channel_row(), "failing_since_ms", 0) - now_ms_ < 20'000
               ? int_or(channel_row(), "failing_since_ms", 0) - now_ms_
               : -1;
  }
};

TEST_F(Faults, ServerTrouble) {
  expect_told_after(ChannelKind::webhook, {.status = 503, .body = secret}, "sent");
}
TEST_F(Faults, CutInTheMiddle) {
  expect_told_after(ChannelKind::webhook, {.body = "a long answer", .cut_after = 3}, "sent");
}
TEST_F(Faults, TheReplyIsLost) { expect_told_after(ChannelKind::webhook, {.drop = true}, "sent"); }
TEST_F(Faults, TheReplyIsLostWhereRepetitionsAreNotKnown) {
  expect_told_after(ChannelKind::discord, {.drop = true}, "perhaps_twice");
}
TEST_F(Faults, ATroubleThatWasAnsweredIsNoDoubt) {
  expect_told_after(ChannelKind::slack, {.status = 500}, "sent");
}
// It was taken; told again it would be there twice.
TEST_F(Faults, ALongAnswerIsNotReadToItsEnd) {
  for (const auto kind : {ChannelKind::webhook, ChannelKind::slack, ChannelKind::ping}) {
    HttpScript server{{.body = std::string(700'000, 'x')}};
    auto spec = channel(kind, server.url(""));
    spec.name = orders::facts(kind).name;
    begin(spec);
    const auto message = tell("one");
    work();
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(told(message).state, kind == ChannelKind::ping ? "" : "sent");
    EXPECT_EQ(job_->trouble().what, "");
    now_ms_ += 600'000;
  }
}
TEST_F(Faults, NoHttpAtAll) {
  expect_told_after(ChannelKind::webhook, {.raw = "220 smtp ready\r\n"}, "sent");
}
TEST_F(Faults, TooManyWithoutAHint) {
  expect_told_after(ChannelKind::ntfy, {.status = 429}, "sent");
}

TEST_F(Faults, TooManyWithAHintWaitsSoLong) {
  struct Case {
    ChannelKind kind;
    HttpStep step;
    std::int64_t wait_ms;
  };
  const std::vector<Case> cases = {
      {ChannelKind::slack, {.status = 429, .headers = {{"Retry-After", "120"}}}, 121'000},
      {ChannelKind::webhook, {.status = 503, .headers = {{"Retry-After", "7"}}}, 8'000},
      {ChannelKind::discord, {.status = 429, .body = R"({"retry_after": 64.57})"}, 64'570},
      {ChannelKind::matrix, {.status = 429, .body = R"({"retry_after_ms": 40000})"}, 40'000},
      {ChannelKind::telegram,
       {.status = 429, .body = R"({"ok":false,"parameters":{"retry_after":33}})"},
       33'000},
      {ChannelKind::discord, {.status = 429, .body = R"({"retry_after": 0.001})"}, 1'000}};
  for (const Case& one : cases) {
    HttpScript server{one.step, {}};
    auto spec = channel(one.kind, server.url(""));
    spec.name = "night" + std::to_string(one.wait_ms);
    begin(spec);
    tell("one");
    const std::int64_t next = work();
    EXPECT_GE(next, now_ms_ + one.wait_ms);
    EXPECT_LT(next, now_ms_ + one.wait_ms + 20'000);
    now_ms_ = next;
    work();
    EXPECT_EQ(server.requests().size(), 2U) << one.wait_ms;
    now_ms_ += 600'000;
  }
}

TEST_F(Faults, AHintThatIsTooShortIsNoReasonToHurry) {
  HttpScript server([](const test::HttpRequest&) {
    return HttpStep{.status = 503, .headers = {{"Retry-After", "0"}}};
  });
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto message = tell("one");
  work_until(now_ms_ + 3'600'000);
  EXPECT_LT(told(message).tries, 20);
}

// Everything that waits is more than a day old but for the last, which is told with one of them.
TEST_F(Faults, WhatIsToldWithSomethingOlderIsTriedForADayOfItsOwn) {
  bool up = false;
  HttpScript server([&](const test::HttpRequest&) { return HttpStep{.status = up ? 200 : 503}; });
  begin(channel(ChannelKind::webhook, server.url("")));
  for (int i = 0; i < 30; ++i) tell("old " + std::to_string(i), "critical");
  work();
  work_until(now_ms_ + 23 * 3'600'000LL);
  tell("young");
  work_until(now_ms_ + 2 * 3'600'000LL);
  const auto before = server.requests().size();
  up = true;
  work_until(now_ms_ + 3'600'000LL);
  ASSERT_GT(server.requests().size(), before);
  EXPECT_THAT(server.requests().back().body, HasSubstr("young"));
}

TEST_F(Faults, WhatWillNotHelpIsNotTriedAgain) {
  for (const int status : {400, 413, 422}) {
    HttpScript server{{.status = status, .body = secret}, {}};
    auto spec = channel(ChannelKind::telegram, server.url(""));
    spec.name = "s" + std::to_string(status);
    begin(spec);
    const auto first = tell("one");
    const auto second = tell("two");
    work();
    EXPECT_EQ(server.requests().size(), 2U) << status;
    EXPECT_EQ(told(first).state, "failed") << status;
    EXPECT_THAT(told(first).error, HasSubstr("HTTP " + std::to_string(status)));
    EXPECT_THAT(told(first).error, HasSubstr("127.0.0.1"));
    EXPECT_EQ(told(second).state, "sent");
    now_ms_ += 600'000;
  }
}

TEST_F(Faults, ARedirectIsNotFollowed) {
  HttpScript elsewhere{{}};
  HttpScript server{test::redirect_to(elsewhere.url("/" + std::string(secret)), 307)};
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto message = tell("one");
  work();
  EXPECT_EQ(elsewhere.requests().size(), 0U);
  EXPECT_EQ(told(message).state, "waiting") << "a portal may have answered";
  EXPECT_THAT(told(message).error, HasSubstr("points to another address"));
}

TEST_F(Faults, NobodyThereIsTriedForADayAndThenGivenUp) {
  std::string url;
  {
    const HttpScript gone;
    url = gone.url("");
  }
  begin(channel(ChannelKind::webhook, url));
  const auto message = tell("one");
  const std::int64_t told_ms = now_ms_;
  std::int64_t longest = 0;
  while (told(message).state != "failed" && now_ms_ < told_ms + 48 * 3'600'000LL) {
    const std::int64_t next = work();
    if (told(message).state == "failed") break;
    longest = std::max(longest, next - now_ms_);
    now_ms_ = next;
  }
  EXPECT_EQ(told(message).state, "failed");
  EXPECT_THAT(told(message).error, HasSubstr("given up after a day"));
  EXPECT_THAT(told(message).error, Not(HasSubstr(secret)));
  EXPECT_GE(now_ms_ - told_ms, 24 * 3'600'000LL);
  EXPECT_LT(now_ms_ - told_ms, 25 * 3'600'000LL);
  EXPECT_LE(longest, 1'200'000) << "15 min and a quarter are the longest pause";
  EXPECT_GT(told(message).tries, 80);
  EXPECT_LT(told(message).tries, 140);
  EXPECT_GE(int_or(channel_row(), "failing_since_ms", 0), told_ms);
  EXPECT_LT(int_or(channel_row(), "failing_since_ms", 0), told_ms + 60'000);
}

TEST_F(Faults, NothingIsLostNorToldTwiceWhateverHappens) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    SplitMix64 random(seed);
    std::vector<std::string> ids;  // as a receiver that knows repetitions sees them
    HttpScript server([&](const test::HttpRequest& request) -> HttpStep {
      const auto dice = random.below(6);
      if (dice == 0) return {.status = 503};
      if (dice == 1) return {.status = 429, .headers = {{"Retry-After", "2"}}};
      const std::string id(request.header("webhook-id"));
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      if (dice == 2) return {.drop = true};
      return {};
    });
    auto spec = channel(ChannelKind::webhook, server.url(""));
    spec.name = "seed" + std::to_string(seed);
    begin(spec);
    std::vector<std::string> expected;
    for (int i = 0; i < 15; ++i) {
      expected.push_back("msg_run0_" + std::to_string(tell("m" + std::to_string(i))));
      if (random.below(3) == 0) job_ = make_channel_job(spec, {{"box", "run0"}, {}, seed});
      now_ms_ = std::max(work(), now_ms_ + 200'000);
    }
    work_until(now_ms_ + 3'600'000);
    EXPECT_EQ(ids, expected);
  }
}

}  // namespace
}  // namespace trainward::courier
