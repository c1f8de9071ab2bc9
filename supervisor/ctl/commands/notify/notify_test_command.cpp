// notify test: one message to each channel of the configuration, and what became of it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/courier_call.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::ctl {
namespace {

struct TestRequest {
  std::string channel;  // empty: all of them
  std::string file;     // empty: the usual one
};

std::string names_of(const std::vector<orders::Channel>& channels) {
  std::string names;
  for (const orders::Channel& channel : channels) {
    names += (names.empty() ? "" : ", ") + channel.name;
  }
  return names;
}

// A line a channel, as they come: one that is slow keeps nothing back.
int tell(const Context& context, const orders::Orders& orders) {
  json::array results;
  bool all = true;
  const auto ended =
      call_courier("try-channels", orders::line_of(orders), [&](std::string_view line) {
        const auto parsed = parse_json(line, "trainward-courier");
        if (!parsed || !parsed->is_object()) return;
        const json::object& row = parsed->get_object();
        const bool ok = bool_or(row, "ok", false);
        all = all && ok;
        results.emplace_back(row);
        if (context.settings.json) return;
        context.terminal.out << fmt::format("{} ({}): {}\n", clean(string_or(row, "channel", "?")),
                                            clean(string_or(row, "kind", "?")),
                                            ok ? "taken; see whether it arrived"
                                               : "FAILED: " + clean(string_or(row, "words", "")))
                             << std::flush;
      });
  if (!ended) return finish(context, {exit_status::failed, ended.error()});
  if (context.settings.json) context.print_json(results);
  const bool whole = results.size() == orders.channels.size();
  if (!whole) {
    context.terminal.err << "trainward-courier ended before all channels were tried\n";
  }
  return all && whole ? exit_status::ok : exit_status::failed;
}

int test_channels(const Context& context, const TestRequest& request) {
  std::error_code error;
  const std::string file = request.file.empty() ? config::usual_file : request.file;
  if (request.file.empty() && !std::filesystem::exists(file, error)) {
    context.terminal.err << fmt::format(
        "no {} here: name the daemon's configuration with --file FILE\n", file);
    return exit_status::usage;
  }
  const auto config =
      config::load(file, std::filesystem::current_path(error), {}, config::Accept::pipes);
  if (!config) {
    for (const auto& problem : config.error()) {
      context.terminal.err << clean(problem.text()) << '\n';
    }
    return exit_status::failed;
  }
  orders::Orders orders;
  orders.state_dir = config->state_dir.string();
  orders.database = config->database.string();
  for (const orders::Channel& channel : config->channels) {
    if (request.channel.empty() || channel.name == request.channel) {
      orders.channels.push_back(channel);
    }
  }
  if (config->channels.empty()) {
    context.terminal.err << fmt::format(
        "{} has no channels: add notify.channels (docs/messenger.md)\n", clean(file));
    return exit_status::usage;
  }
  if (orders.channels.empty()) {
    context.terminal.err << fmt::format("{} has no channel '{}'; there are {}\n", clean(file),
                                        clean(request.channel), names_of(config->channels));
    return exit_status::usage;
  }
  return tell(context, orders);
}

}  // namespace

void add_notify_test(Cli& cli) {
  auto& request = cli.keep<TestRequest>();
  const Verb verb =
      cli.verb("notify test", "send a message to each channel, and say what happened");
  verb.option("CHANNEL", request.channel, "this one alone");
  verb.option("--file", request.file, "the configuration; trainward.yaml, when none is named");
  cli.on(verb, request, test_channels);
}

}  // namespace trainward::ctl
