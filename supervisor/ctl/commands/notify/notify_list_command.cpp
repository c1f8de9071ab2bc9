// notify list: how each channel fares, and what it was told.
#include <algorithm>
#include <string>

#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/record/outbox/record.hpp"

namespace trainward::ctl {
namespace {

struct ListRequest {
  std::string channel;  // empty: all of them
  int limit = 50;       // messages
};

std::string how_it_fares(const json::object& row, std::int64_t now_ms) {
  const std::int64_t since = int_or(row, "failing_since_ms", 0);
  if (since > 0) return fmt::format("failing for {}", human_duration(now_ms - since));
  return int_or(row, "last_ok_ms", 0) > 0 ? "works" : "nothing told yet";
}

std::string channels_text(const json::array& rows, std::int64_t now_ms, const Style& style) {
  Table table({{"CHANNEL"}, {"KIND"}, {"STATE"}, {"LAST TOLD"}, {"LAST ERROR"}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const bool fails = int_or(row, "failing_since_ms", 0) > 0;
    const std::int64_t ok = int_or(row, "last_ok_ms", 0);
    table.add({string_or(row, "channel", "-"), string_or(row, "kind", "-"),
               Cell(how_it_fares(row, now_ms), fails ? Colour::red : Colour::plain),
               ok > 0 ? age(now_ms - ok) : "-", or_dash(string_or(row, "error", ""))});
  }
  return table.text(style);
}

std::string deliveries_text(const json::array& rows, const Context& context) {
  Table table({{"TIME"}, {"CHANNEL"}, {"STATE"}, {"TIER"}, {"MESSAGE"}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    std::string title = string_or(row, "title", "");
    if (const auto more = int_or(row, "more_count", 0); more > 0) {
      title += fmt::format(" (and {} more)", more);
    }
    if (const std::string error = string_or(row, "error", ""); !error.empty()) {
      title += fmt::format(" [{}]", error);
    }
    table.add({short_time_text(int_or(row, "at_ms", 0), context.terminal.now.wall.ms,
                               context.settings.utc),
               string_or(row, "channel", "-"), string_or(row, "state", "-"),
               string_or(row, "tier", "-"), title});
  }
  return table.text(context.style());
}

json::array of_channel(const json::object& document, std::string_view list,
                       const std::string& channel, std::size_t most) {
  json::array out;
  const auto rows = get_array(document, list);
  if (!rows) return out;
  for (const json::value& value : **rows) {
    if (out.size() == most) break;
    if (!value.is_object()) continue;
    if (channel.empty() || string_or(value.get_object(), "channel", "") == channel) {
      out.push_back(value);
    }
  }
  return out;
}

int list_deliveries(const Context& context, const ListRequest& request) {
  const auto recorded = courier::recorded(context.settings.state_dir);
  if (!recorded) return finish(context, {exit_status::failed, recorded.error()});
  const json::array channels = of_channel(*recorded, "channels", request.channel, 1000);
  const json::array deliveries =
      of_channel(*recorded, "deliveries", request.channel, static_cast<std::size_t>(request.limit));
  if (context.settings.json) {
    context.print_json({{"channels", channels}, {"deliveries", deliveries}});
    return exit_status::ok;
  }
  if (channels.empty()) {
    context.terminal.out
        << (request.channel.empty()
                ? "No channel is on record: none is configured, or trainwardd has not "
                  "run since it was (docs/messenger.md)\n"
                : "No such channel is on record; without a name all are shown\n");
    return exit_status::ok;
  }
  context.terminal.out << channels_text(channels, context.terminal.now.wall.ms, context.style());
  if (deliveries.empty()) {
    context.terminal.out << "\nNothing was told yet: trainwardctl notify test\n";
  } else {
    context.terminal.out << '\n' << deliveries_text(deliveries, context);
  }
  return exit_status::ok;
}

}  // namespace

void add_notify_list(Cli& cli) {
  auto& request = cli.keep<ListRequest>();
  const Verb verb = cli.verb("notify list", "how the channels fare, and what they were told");
  verb.option("CHANNEL", request.channel, "this one alone");
  verb.option("-n,--lines", request.limit, "how many messages (50)").range(1, 200);
  cli.on(verb, request, list_deliveries);
}

}  // namespace trainward::ctl
