#include "supervisor/courier/jobs/channels/one_shot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "common/os/clock.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/courier/jobs/channels/carrier.hpp"
#include "supervisor/courier/jobs/channels/values.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {
namespace {

// A test is to wake nobody who is not woken by all the rest.
std::string least_urgent(const orders::Channel& channel) {
  const auto& tiers = orders::message_tiers;
  const auto found = std::find_if(tiers.rbegin(), tiers.rend(), [&](std::string_view tier) {
    return std::find(channel.tiers.begin(), channel.tiers.end(), tier) != channel.tiers.end();
  });
  return std::string(found == tiers.rend() ? tiers.back() : *found);
}

Message test_message(const orders::Channel& channel, const Speaker& speaker, std::int64_t now_ms) {
  const json::object body{
      {"text",
       fmt::format("This is a test of the channel '{}', sent by trainwardctl notify test on "
                   "{}. No action is needed.",
                   channel.name, speaker.host)}};
  const MessageFacts row{now_ms,
                         now_ms,
                         0,
                         "",
                         least_urgent(channel),
                         "test",
                         "Test: messages of this channel arrive"};
  return message_of(row, json::serialize(body), speaker, channel.log_lines);
}

Result<Call> test_call(const orders::Channel& channel, const ChannelContext& context,
                       std::int64_t now_ms) {
  auto values = values_of(channel);
  if (!values) return propagate(values);
  const Message message = test_message(channel, context.speaker, now_ms);
  if (channel.kind == orders::ChannelKind::ping) {
    auto request = ping_request(*values, "a test by trainwardctl notify test");
    if (!request) return propagate(request);
    return Call(std::move(*request));
  }
  if (channel.kind == orders::ChannelKind::alertmanager) {
    json::object alert = alert_of(message);
    alert["startsAt"] = iso8601(now_ms);
    alert["endsAt"] = iso8601(now_ms + 60'000);
    return Call(alertmanager_request(json::array{std::move(alert)}, *values));
  }
  return call_of(channel.kind, message, *values, now_ms);
}

std::string all_of_stdin() {
  std::string text;
  std::array<char, 16 * 1024> bytes{};
  while (text.size() <= orders::most_order_bytes) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

json::object try_channel(const orders::Channel& channel, const ChannelContext& context,
                         std::int64_t now_ms, const std::stop_token& stop) {
  const auto result = [&](bool ok, const std::string& words) {
    return json::object{{"channel", channel.name},
                        {"kind", orders::facts(channel.kind).name},
                        {"ok", ok},
                        {"words", clean(words)}};
  };
  auto call = test_call(channel, context, now_ms);
  if (!call) return result(false, call.error().message());
  const Outcome outcome = carry(channel.kind, *call, context.network, stop, now_ms);
  if (outcome.verdict.kind == Verdict::Kind::taken) return result(true, "taken");
  return result(false, outcome.verdict.words);
}

int try_channels() {
  const std::string text = all_of_stdin();
  auto orders = orders::from_line(trim(text));
  if (!orders) {
    std::fprintf(stderr, "E the orders are wrong: %s\n", clean(orders.error().message()).c_str());
    return exit_code::configuration;
  }
  const ChannelContext context{speaker_of(orders->database),
                               {.proxy = orders->proxy, .certificates = orders->certificates}};
  bool all = true;
  for (const orders::Channel& channel : orders->channels) {
    const json::object line = try_channel(channel, context, now().wall.ms, {});
    all = all && bool_or(line, "ok", false);
    std::printf("%s\n", json::serialize(line).c_str());
    std::fflush(stdout);
  }
  return all ? exit_code::done : exit_code::failed;
}

}  // namespace trainward::courier
