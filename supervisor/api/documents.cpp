// What is on record, a line a document.
#include <algorithm>

#include "common/os/clock.hpp"
#include "supervisor/api/routes.hpp"
#include "supervisor/excerpt/log_excerpt.hpp"

namespace trainward::api {
namespace {

constexpr int most_events = 1'000;
constexpr std::int64_t most_samples = 10'000;
constexpr std::int64_t usual_samples = 360;  // an hour of them

// With what only the daemon knows of it.
void add_trouble(Control& control, json::array& programs) {
  for (json::value& row : programs) {
    const std::string trouble = control.trouble(string_or(row.as_object(), "name", ""));
    if (!trouble.empty()) row.as_object()["trouble"] = trouble;
  }
}

}  // namespace

void add_documents(Table& table) {
  using store::Store;
  const Parameter after{.name = "after"};
  table.read_then(
      "/v1/programs", {}, [](const Store& store, const Asked&) { return store.status_json(now()); },
      add_trouble);
  table.read("/v1/history", {},
             [](const Store& store, const Asked&) { return store.history_json(""); });
  table.read_of_program("history", &Store::history_json);
  table.read_of_program("why", {{.name = "attempt", .least = 1}, {.name = "lines", .least = 0}},
                        [](const Store& store, const Asked& asked) {
                          auto why = store.why_json(asked.name(), asked.number("attempt"));
                          const auto lines = std::min<std::int64_t>(
                              asked.number("lines").value_or(0), most_lines_around);
                          if (why && lines > 0)
                            (*why)["log"] = log_excerpt(*why, static_cast<int>(lines));
                          return why;
                        });
  table.read_of_program(
      "curve",
      {{.name = "from", .least = 0},
       {.name = "to", .least = 0},
       {.name = "buckets", .least = 1},
       {.name = "metric", .words = {"loss", "grad_norm", "learning_rate", "tokens_per_second"}}},
      [](const Store& store, const Asked& asked) {
        return store.curve_json(asked.name(),
                                {asked.number("from"), asked.number("to"),
                                 asked.number("buckets").value_or(Store::CurveQuery{}.buckets),
                                 asked.word("metric", "loss")});
      });
  table.read_of_program("ledger", {{.name = "window", .least = 1}},
                        [](const Store& store, const Asked& asked) {
                          return store.ledger_json(asked.name(), asked.number("window"), now());
                        });
  table.read_of_program("report", &Store::report_json);
  table.read_of_program("checkpoints", &Store::checkpoints_json);
  table.read_of_program("evaluations", &Store::evaluations_json);
  table.read_of_program("samples", &Store::samples_json);
  table.read_of_program("compiled", &Store::compiled_json);
  table.read("/v1/events", {after}, [](const Store& store, const Asked& asked) {
    return store.events_json("", asked.number("after").value_or(0), most_events);
  });
  // Also of programs that were removed: what happened stays on record.
  table.read("/v1/programs/*/events", {after}, [](const Store& store, const Asked& asked) {
    return store.events_json(asked.name(), asked.number("after").value_or(0), most_events);
  });
  table.read("/v1/probe", {}, [](const Store& store, const Asked&) { return store.probe_json(); });
  table.read("/v1/boards", {},
             [](const Store& store, const Asked&) { return store.boards_json(); });
  table.read("/v1/boards/*/samples", {after, {.name = "limit", .least = 1}},
             [](const Store& store, const Asked& asked) {
               const auto limit =
                   std::min(asked.number("limit").value_or(usual_samples), most_samples);
               return store.board_samples_json(asked.name(), asked.number("after").value_or(-1),
                                               static_cast<int>(limit));
             });
}

}  // namespace trainward::api
