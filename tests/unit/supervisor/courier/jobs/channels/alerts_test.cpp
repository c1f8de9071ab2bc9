// Alertmanager: told each minute while it lasts, for five when it is over.
#include "fixture.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using testing::HasSubstr;

class Alerts : public ChannelTest {
 protected:
  static json::array alerts_in(const test::HttpRequest& request) {
    const auto parsed = parse_json(request.body, "test");
    EXPECT_TRUE(parsed && parsed->is_array()) << request.body;
    return parsed && parsed->is_array() ? parsed->get_array() : json::array();
  }
  void open_episode(std::int64_t id, std::int64_t closed_ms = 0) {
    store::EpisodeRow row;
    row.id = id;
    row.program = "trainer";
    row.family = "crashes";
    row.opened_ms = now_ms_;
    row.closed_ms = closed_ms;
    ASSERT_TRUE(store_->put_episode(row));
  }
  std::string ends(const test::HttpRequest& request, std::size_t i = 0) {
    return std::string(alerts_in(request).at(i).at("endsAt").get_string());
  }
};

TEST_F(Alerts, AreToldAgainEachMinuteWhileTheyLast) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::alertmanager, server.url("")));
  EXPECT_EQ(server.requests().size(), 0U);
  open_episode(5);
  const auto message = tell("gave up", "critical", 5);
  work_until(now_ms_ + 600'000);
  auto requests = server.requests();
  EXPECT_EQ(requests.size(), 11U);
  EXPECT_THAT(requests[0].target, testing::EndsWith("/api/v2/alerts"));
  EXPECT_EQ(told(message).state, "sent");
  const json::object first = alerts_in(requests[0]).at(0).get_object();
  const json::object last = alerts_in(requests.back()).at(0).get_object();
  EXPECT_EQ(first.at("labels"), last.at("labels"));
  EXPECT_EQ(first.at("startsAt"), last.at("startsAt"));
  EXPECT_EQ(ends(requests.back()), iso8601(now_ms_ + 300'000));

  open_episode(5, now_ms_);
  tell("recovered", "info", 5, true);
  const std::int64_t over = now_ms_;
  work_until(now_ms_ + 1'200'000);
  requests = server.requests();
  EXPECT_EQ(ends(requests.at(11)), iso8601(over));
  EXPECT_GE(requests.size(), 16U);
  EXPECT_LE(requests.size(), 18U) << "for five minutes, and no longer";
}

TEST_F(Alerts, EndWithTheEpisodeAlsoWhenNobodySaysSo) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  auto spec = channel(ChannelKind::alertmanager, server.url(""));
  spec.tiers = {"critical"};
  begin(spec);
  open_episode(5);
  tell("gave up", "critical", 5);
  work();
  open_episode(5, now_ms_ + 1);
  now_ms_ += 60'000;
  work();
  EXPECT_EQ(ends(server.requests().at(1)), iso8601(now_ms_));
}

TEST_F(Alerts, AnEscalationEndsWhatItFollows) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::alertmanager, server.url("")));
  open_episode(5);
  tell("crashed", "warning", 5);
  work();
  tell("gave up", "critical", 5);
  now_ms_ += 1'000;
  work();
  const auto request = server.requests().at(1);
  ASSERT_EQ(alerts_in(request).size(), 2U);
  EXPECT_EQ(alerts_in(request).at(0).at("labels").at("severity"), "critical");
  EXPECT_EQ(ends(request, 0), iso8601(now_ms_ + 300'000));
  EXPECT_EQ(ends(request, 1), iso8601(now_ms_));
}

TEST_F(Alerts, SurviveFailuresAndARestart) {
  int answer = 503;
  HttpScript server([&](const test::HttpRequest&) { return test::HttpStep{.status = answer}; });
  const auto spec = channel(ChannelKind::alertmanager, server.url(""));
  begin(spec);
  open_episode(5);
  const auto message = tell("gave up", "critical", 5);
  work_until(now_ms_ + 30'000);
  EXPECT_EQ(told(message).state, "waiting");
  EXPECT_THAT(told(message).error, HasSubstr("HTTP 503"));
  EXPECT_GT(int_or(channel_row(), "failing_since_ms", 0), 0);
  answer = 200;
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 9});
  work_until(now_ms_ + 120'000);
  EXPECT_EQ(told(message).state, "sent");
  EXPECT_EQ(int_or(channel_row(), "failing_since_ms", -1), 0);
}

TEST_F(Alerts, GoOnWhenTheClockIsSetBack) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::alertmanager, server.url("")));
  open_episode(5);
  tell("gave up", "critical", 5);
  work_until(now_ms_ + 90'000);
  const auto before = server.requests().size();
  now_ms_ -= 3'600'000;
  work_until(now_ms_ + 300'000);
  EXPECT_GE(server.requests().size(), before + 5);
}

// What the digest tells in a line lasts all the same.
TEST_F(Alerts, BeginAlsoWhereADigestTellsOfThem) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  begin(channel(ChannelKind::alertmanager, server.url("")));
  open_episode(5);
  const auto held = tell("crashed", "warning", 5, false, 600'000);
  tell_digest({held});
  work();
  now_ms_ += 600'000;
  work();
  EXPECT_EQ(told(held).state, "sent");
}

TEST_F(Alerts, ADigestIsNoAlert) {
  HttpScript server;
  begin(channel(ChannelKind::alertmanager, server.url("")));
  const auto digest = tell("the last day", "info");
  work();
  EXPECT_EQ(told(digest).state, "skipped");
  EXPECT_EQ(server.requests().size(), 0U);
}

}  // namespace
}  // namespace trainward::courier
