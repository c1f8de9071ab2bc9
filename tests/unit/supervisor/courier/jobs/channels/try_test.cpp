// What `trainwardctl notify test` does: one message to each channel, and what happened in words.
#include "fixture.hpp"
#include "supervisor/courier/jobs/channels/one_shot.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using testing::HasSubstr;
using testing::Not;

class Try : public ChannelTest {};

TEST_F(Try, EveryKindOverTheNetworkIsAskedOnceAndSaysSo) {
  for (const auto& kind : orders::channel_kinds) {
    if (kind.kind == ChannelKind::mail || kind.kind == ChannelKind::command) continue;
    HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
    const auto good =
        try_channel(channel(kind.kind, server.url("")), {{"box", "r"}, {}, 0}, now_ms_, {});
    EXPECT_TRUE(good.at("ok").get_bool()) << json::serialize(good);
    EXPECT_EQ(server.requests().size(), 1U) << kind.name;
    HttpScript closed(
        [](const test::HttpRequest&) { return test::HttpStep{.status = 403, .body = secret}; });
    const auto bad =
        try_channel(channel(kind.kind, closed.url("")), {{"box", "r"}, {}, 0}, now_ms_, {});
    EXPECT_FALSE(bad.at("ok").get_bool());
    EXPECT_THAT(json::serialize(bad), HasSubstr("HTTP 403"));
    EXPECT_THAT(json::serialize(bad), Not(HasSubstr(secret)));
  }
}

TEST_F(Try, WakesNobodyWhoNeedNotBeWoken) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  auto spec = channel(ChannelKind::webhook, server.url(""));
  spec.tiers = {"warning", "critical"};
  (void)try_channel(spec, {{"box", "r"}, {}, 0}, now_ms_, {});
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(json_of(server.requests()[0].body).at("data").at("tier"), "warning");
}

TEST_F(Try, OrdersHoldChannelsAndNoSecret) {
  orders::Orders orders;
  orders.state_dir = "/s";
  orders.database = "/s/trainward.db";
  for (const auto& kind : orders::channel_kinds) {
    auto spec = channel(kind.kind, "http://127.0.0.1:1");
    spec.name = kind.name;
    spec.words["to"] = {"a@b.c"};
    spec.durations_ms["every"] = 60'000;
    spec.secrets["x"].variable = "NAME";
    orders.channels.push_back(spec);
  }
  const std::string line = orders::line_of(orders);
  EXPECT_THAT(line, Not(HasSubstr(secret)));
  const auto back = orders::from_line(line);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->channels, orders.channels);
  EXPECT_FALSE(back->empty());
  EXPECT_FALSE(orders::channel_from_json(json::object{{"name", "x"}, {"kind", "pigeon"}}));
}

}  // namespace
}  // namespace trainward::courier
