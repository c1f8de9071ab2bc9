// events: what happened, newest last, and then, with -f, what happens.
#include <algorithm>
#include <chrono>
#include <thread>

#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct EventsRequest {
  std::string program;  // empty: all
  int limit = 100;
  bool follow = false;
};

constexpr std::chrono::milliseconds poll_interval{250};

std::string format_events(const json::array& rows, const Context& context) {
  Table table({{""}, {""}, {""}, {""}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string program = string_or(row, "program", "");
    const std::int64_t attempt = int_or(row, "attempt", 0);
    std::string who = program.empty() ? "trainwardd" : program;
    if (attempt > 0) who += fmt::format(" #{}", attempt);
    table.add({Cell(time_text(string_or(row, "at", "-"), context.settings.utc), Colour::dim),
               std::move(who), string_or(row, "kind", "-"), string_or(row, "text", "")});
  }
  return table.text(context.style());
}

// Until interrupted, or until the daemon is gone; its successor has the same record.
int follow(const Context& context, const EventsRequest& request, const json::array& shown) {
  std::int64_t last = 0;
  for (json::array rows = shown;;) {
    for_each_row(rows, [&](const json::object& row) {
      last = std::max(last, int_or(row, "id", 0));
      if (context.settings.json) context.print_json(row);
    });
    if (!context.settings.json && !rows.empty()) {
      context.terminal.out << format_events(rows, context);
    }
    context.terminal.out.flush();
    if (rows.empty()) std::this_thread::sleep_for(poll_interval);
    auto next =
        as_array(call(context, Method::get,
                      fmt::format("{}?after={}", target_of(request.program, "events"), last)));
    if (!next) return finish(context, next.error());
    rows = std::move(*next);
  }
}

int show_events(const Context& context, const EventsRequest& request) {
  auto rows = as_array(ask(
      context, target_of(request.program, "events") + "?after=-1", [&](const store::Store& store) {
        return of_program(store, request.program,
                          store.events_json(request.program, -1, request.limit));
      }));
  if (rows && rows->size() > static_cast<std::size_t>(request.limit)) {
    rows->erase(rows->begin(), rows->end() - request.limit);
  }
  if (rows && request.follow) return follow(context, request, *rows);
  return print_rows(context, rows, "No events yet",
                    [&](const json::array& found) { return format_events(found, context); });
}

}  // namespace

void add_events(Cli& cli) {
  auto& request = cli.keep<EventsRequest>();
  const Verb verb = cli.verb("events", "what happened, newest last");
  verb.option("NAME", request.program);
  verb.option("-n,--lines", request.limit, "how many (100)").range(1, 10000);
  verb.flag("-f,--follow", request.follow, "go on with what happens; with --json a line each");
  cli.on(verb, request, show_events);
}

}  // namespace trainward::ctl
