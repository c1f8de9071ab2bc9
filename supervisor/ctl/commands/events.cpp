// events: what happened, newest last.
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/table.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

struct EventsRequest {
  std::string program;  // empty: all
  int limit = 100;
};

std::string format_events(const json::array& rows, const Style& style) {
  Table table({{""}, {""}, {""}, {""}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string program = string_or(row, "program", "");
    const std::int64_t attempt = int_or(row, "attempt", 0);
    std::string who = program.empty() ? "trainwardd" : program;
    if (attempt > 0) who += fmt::format(" #{}", attempt);
    table.add({Cell(string_or(row, "at", "-"), Colour::dim), std::move(who),
               string_or(row, "kind", "-"), string_or(row, "text", "")});
  }
  return table.text(style);
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
  return print_rows(context, rows, "No events yet", [&](const json::array& found) {
    return format_events(found, context.style());
  });
}

}  // namespace

void add_events(Cli& cli) {
  auto& request = cli.keep<EventsRequest>();
  const Verb verb = cli.verb("events", "what happened, newest last");
  verb.option("NAME", request.program);
  verb.option("-n,--lines", request.limit, "how many (100)").range(1, 10000);
  cli.on(verb, request, show_events);
}

}  // namespace trainward::ctl
