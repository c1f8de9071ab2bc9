// What is on record, a line a document.
#include <algorithm>

#include "common/os/clock.hpp"
#include "supervisor/evidence/excerpt/log_excerpt.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "supervisor/window/api/routes/paging.hpp"
#include "supervisor/window/api/routes/routes.hpp"

namespace trainward::api {
namespace {

constexpr std::int64_t most_events = 1'000;
constexpr std::int64_t most_samples = 10'000;
constexpr std::int64_t usual_samples = 360;  // an hour of them

// A list of a program that must be there, by a key that grows.
void add_list(Table& table, const std::string& document, const std::string& key,
              Result<json::array> (store::Store::*read)(const std::string&) const) {
  table.page_of_program(document, paged(),
                        [key, read](const store::Store& store, const Asked& asked) {
                          return page_of((store.*read)(asked.name()), asked, key);
                        });
}

// `program` "" for all. Also of programs that were removed: what happened stays on record.
Response events(const store::Store& store, const Asked& asked, const std::string& program) {
  const auto limit = std::min(asked.number("limit").value_or(most_events), most_events);
  const auto after = asked.number("after").value_or(0);
  // One more than asked for shows whether more follow.
  const auto wanted = static_cast<int>(after < 0 ? limit : limit + 1);
  auto rows = store.events_json(program, after, wanted);
  if (!rows) return failed(rows.error(), 404);
  return page_of(std::move(*rows), asked, "id", limit);
}

Response board_samples(const store::Store& store, const Asked& asked) {
  const auto limit = std::min(asked.number("limit").value_or(usual_samples), most_samples);
  const auto after = asked.number("after").value_or(-1);
  auto rows = store.board_samples_json(asked.name(), after,
                                       static_cast<int>(after < 0 ? limit : limit + 1));
  if (!rows) return failed(rows.error(), 404);
  return page_of(std::move(*rows), asked, "at_ms", limit);
}

}  // namespace

void add_trouble(Control& control, json::array& programs) {
  for (json::value& row : programs) {
    const std::string trouble = control.trouble(string_or(row.as_object(), "name", ""));
    if (!trouble.empty()) row.as_object()["trouble"] = trouble;
  }
}

void add_documents(Table& table) {
  using store::Store;
  table.read_then(
      "/v1/programs", {{.name = "also", .text = true}},
      [](const Store& store, const Asked& asked) {
        return store.status_json(now(), asked.word("also", ""));
      },
      add_trouble);
  table.read("/v1/history", {},
             [](const Store& store, const Asked&) { return store.history_json(""); });
  add_list(table, "history", "attempt", &Store::history_json);
  add_list(table, "checkpoints", "step", &Store::checkpoints_json);
  add_list(table, "evaluations", "step", &Store::evaluations_json);
  add_list(table, "samples", "step", &Store::samples_json);
  table.read_of_program("why", {{.name = "attempt", .least = 1}, {.name = "lines", .least = 0}},
                        [](const Store& store, const Asked& asked) {
                          auto why = store.why_json(asked.name(), asked.number("attempt"));
                          const auto lines = std::min<std::int64_t>(
                              asked.number("lines").value_or(0), most_lines_around);
                          if (why && lines > 0)
                            (*why)["log"] = log_excerpt(*why, static_cast<int>(lines));
                          return why;
                        });
  table.read_of_program("curve",
                        {{.name = "from", .least = 0},
                         {.name = "to", .least = 0},
                         {.name = "buckets", .least = 1},
                         {.name = "metric", .words = names_of(curve_figures)}},
                        [](const Store& store, const Asked& asked) {
                          return store.curve_json(
                              asked.name(),
                              {asked.number("from"), asked.number("to"),
                               asked.number("buckets").value_or(Store::CurveQuery{}.buckets),
                               asked.word("metric", "loss")});
                        });
  table.read_of_program("ledger", {{.name = "window", .least = 1}},
                        [](const Store& store, const Asked& asked) {
                          return store.ledger_json(asked.name(), asked.number("window"), now());
                        });
  table.read_of_program("report", &Store::report_json);
  table.read_of_program("compiled", &Store::compiled_json);
  table.page("/v1/events", paged(),
             [](const Store& store, const Asked& asked) { return events(store, asked, ""); });
  table.page("/v1/programs/*/events", paged(), [](const Store& store, const Asked& asked) {
    return events(store, asked, asked.name());
  });
  table.read("/v1/probe", {}, [](const Store& store, const Asked&) { return store.probe_json(); });
  table.read("/v1/boards", {},
             [](const Store& store, const Asked&) { return store.boards_json(); });
  table.read_then(
      "/v1/deliveries", {},
      [](const Store& store, const Asked&) {
        return courier::recorded(store.file().parent_path());
      },
      [](Control& control, json::object& document) { document["courier"] = control.courier(); });
  table.page("/v1/boards/*/samples", paged(), board_samples);
}

}  // namespace trainward::api
