// How fast a channel is told, and what becomes of what is more.
#include "fixture.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using testing::HasSubstr;

TEST(Bucket, GivesFiveAtOnceThenOneASecondAndTwentyAnHour) {
  Bucket bucket{.at_ms = epoch_ms};
  std::int64_t now_ms = epoch_ms;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(bucket.wait_ms(), 0);
    bucket.take();
  }
  EXPECT_EQ(bucket.wait_ms(), 1'000);
  int taken = 5;
  while (now_ms < epoch_ms + 3'600'000) {
    now_ms += 1'000;
    bucket = bucket.at(now_ms);
    if (bucket.wait_ms() > 0) continue;
    bucket.take();
    ++taken;
  }
  EXPECT_EQ(taken, 40) << "twenty at the beginning, and one each three minutes";
  EXPECT_EQ(bucket.at(now_ms - 1'000'000).hour, bucket.hour) << "a clock set back gives nothing";
}

TEST_F(ChannelTest, WhatIsMoreThanTwentyIsToldInOneThatSaysSo) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::webhook, server.url("")));
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 34; ++i) {
    ids.push_back(tell("m" + std::to_string(i), i == 25 ? "critical" : "info"));
  }
  work_until(now_ms_ + 60'000);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 20U);
  EXPECT_EQ(titles(server)[18], "m18");
  const json::object last = json_of(requests.back().body).at("data").get_object();
  EXPECT_EQ(last.at("title"), "m25") << "the most urgent speaks for the others";
  EXPECT_EQ(last.at("more_count"), 14);
  EXPECT_EQ(last.at("more").get_array().size(), 14U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(told(ids[i]).state, i < 19 || i == 25 ? "sent" : "replaced") << i;
  }
  // The next comes when there is a share of the hour again.
  const auto later = tell("later", "critical");
  EXPECT_GT(work(), now_ms_ + 1'000);
  EXPECT_EQ(told(later).state, "waiting");
  work_until(now_ms_ + 180'000);
  EXPECT_EQ(told(later).state, "sent");
}

TEST_F(ChannelTest, WhatWasToBeToldAlongSurvivesAFailureAndARestart) {
  int failures = 3;
  HttpScript server([&](const test::HttpRequest& request) -> test::HttpStep {
    const bool merged = request.body.find("\"more_count\":0") == std::string::npos;
    if (merged && failures-- > 0) return {.status = 500};
    return {};
  });
  const auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  for (int i = 0; i < 30; ++i) tell("m" + std::to_string(i), "info");
  work_until(now_ms_ + 20'000);
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 9});
  work_until(now_ms_ + 120'000);
  std::vector<std::string> merged;
  for (const auto& request : server.requests()) {
    if (request.body.find("\"more_count\":0") == std::string::npos) merged.push_back(request.body);
  }
  ASSERT_EQ(merged.size(), 4U);
  for (const std::string& body : merged) EXPECT_EQ(body, merged.front());
  EXPECT_THAT(merged.front(), HasSubstr("\"more_count\":10"));
}

TEST_F(ChannelTest, ACrashLoopOfAThousandAttemptsInOneEpisodeIsOneMessage) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::webhook, server.url("")));
  for (int i = 0; i < 1'000; ++i) tell("crash " + std::to_string(i), "warning", 5, false, 90'000);
  now_ms_ += 90'000;
  work();
  EXPECT_THAT(titles(server), testing::ElementsAre("crash 999"));
}

}  // namespace
}  // namespace trainward::courier
