#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/evidence/excerpt/log_excerpt.hpp"
#include "supervisor/record/store/store.hpp"
#include "supervisor/window/page/page_documents.hpp"

namespace trainward::page {
namespace {

using store::Store;

constexpr std::int64_t curve_points = 300;
constexpr std::int64_t small_curve_points = 60;
constexpr std::size_t most_small_curves = 50;
constexpr int most_samples = 5'000;  // of a board in six hours, at one each ten seconds: 2,160
constexpr std::int64_t six_hours_ms = 6 * 3'600'000LL;
constexpr std::size_t most_sampled_boards = 16;
constexpr int most_events = 25;
constexpr int log_lines = 20;  // before the line that decided, and after it

// A document of the program, by the method of the store that makes it.
Question of_program(const std::string& program, const std::string& document,
                    Result<json::array> (Store::*read)(const std::string&) const) {
  return {fmt::format("/v1/programs/{}/{}", views::percent_encoded(program), document),
          [program, read](const Store& store) -> Result<json::value> {
            return (store.*read)(program);
          }};
}

Question ledger(const std::string& program, std::optional<std::int64_t> seconds,
                std::int64_t now_ms) {
  return {fmt::format("/v1/programs/{}/ledger{}", views::percent_encoded(program),
                      seconds ? fmt::format("?window={}", *seconds) : ""),
          [=](const Store& store) -> Result<json::value> {
            return store.ledger_json(program, seconds, Time{WallTime{now_ms}, MonoTime{0}});
          }};
}

Question curve(const std::string& program, std::int64_t points) {
  return {fmt::format("/v1/programs/{}/curve?buckets={}", views::percent_encoded(program), points),
          [=](const Store& store) -> Result<json::value> {
            return store.curve_json(program, {.buckets = points});
          }};
}

Question why(const View& view) {
  std::string target =
      fmt::format("/v1/programs/{}/why?lines={}", views::percent_encoded(view.program), log_lines);
  if (view.attempt) target += fmt::format("&attempt={}", *view.attempt);
  return {
      target,
      [program = view.program, attempt = view.attempt](const Store& store) -> Result<json::value> {
        auto document = store.why_json(program, attempt);
        if (document) (*document)["log"] = log_excerpt(*document, log_lines);
        return document;
      }};
}

// One more than is shown, where there is one: so it is known whether there are older ones.
json::array newest_attempts(const json::array& rows, const View& view) {
  std::vector<const json::object*> found;
  views::for_each_row(rows, [&](const json::object& row) {
    if (!view.before || int_or(row, "attempt", 0) < *view.before) found.push_back(&row);
  });
  std::ranges::stable_sort(found, [](const json::object* a, const json::object* b) {
    return int_or(*a, "attempt", 0) > int_or(*b, "attempt", 0);
  });
  if (found.size() > attempts_shown + 1) found.resize(attempts_shown + 1);
  json::array newest;
  for (const json::object* row : found) newest.push_back(*row);
  return newest;
}

class Gathering {
 public:
  Gathering(Documents& documents, std::string_view section, const Ask& ask)
      : into_(documents), section_(section), ask_(ask) {}

  Status all() {
    if (auto got = programs(); !got) return got;
    if (into_.view.program.empty()) {
      small_curves();
      return {};
    }
    const View& view = into_.view;
    const std::string& program = view.program;
    const std::string encoded = views::percent_encoded(program);
    if (wanted("curve")) object(into_.curve, curve(program, curve_points));
    if (wanted("time")) {
      object(into_.ledger_run, ledger(program, {}, view.now_ms));
      object(into_.ledger_day, ledger(program, 86'400, view.now_ms));
      object(into_.ledger_hour, ledger(program, 3'600, view.now_ms));
    }
    if (wanted("attempts")) {
      array(into_.attempts,
            {fmt::format("/v1/programs/{}/history", encoded),
             [program, before = view.before](const Store& store) -> Result<json::value> {
               return store.newest_attempts_json(program, before, attempts_shown + 1);
             }});
      into_.attempts = newest_attempts(into_.attempts, view);
    }
    if (wanted("why")) object(into_.why, why(view));
    if (wanted("boards")) boards();
    if (wanted("checkpoints")) {
      array(into_.checkpoints, of_program(program, "checkpoints", &Store::checkpoints_json));
    }
    if (wanted("learning")) {
      array(into_.evaluations, of_program(program, "evaluations", &Store::evaluations_json));
      array(into_.texts, of_program(program, "samples", &Store::samples_json));
    }
    if (wanted("events")) {
      array(into_.events, {fmt::format("/v1/programs/{}/events?after=-1", encoded),
                           [program](const Store& store) -> Result<json::value> {
                             return store.events_json(program, -1, most_events);
                           }});
    }
    return {};
  }

 private:
  [[nodiscard]] bool wanted(std::string_view id) const {
    return section_.empty() || section_ == id;
  }
  void array(json::array& into, const Question& question) {
    auto answer = ask_(question);
    if (answer && answer->is_array()) into = std::move(answer->get_array());
  }
  void object(json::object& into, const Question& question) {
    auto answer = ask_(question);
    if (answer && answer->is_object()) into = std::move(answer->get_object());
  }

  Status programs() {
    const std::int64_t now_ms = into_.view.now_ms;
    const std::string& only = into_.view.program;
    const std::string target = only.empty() ? "" : "?also=" + views::percent_encoded(only);
    auto rows =
        ask_({"/v1/programs" + target, [now_ms, only](const Store& store) -> Result<json::value> {
                return store.status_json(Time{WallTime{now_ms}, MonoTime{0}}, only);
              }});
    if (!rows) return propagate(rows);
    if (rows->is_array()) {
      for (json::value& row : rows->get_array()) {
        if (!row.is_object()) continue;
        if (only.empty() || string_or(row.get_object(), "name", "") == only) {
          into_.programs.push_back(std::move(row));
        }
      }
    }
    return {};
  }

  void small_curves() {
    std::size_t left = most_small_curves;
    views::for_each_row(into_.programs, [&](const json::object& row) {
      const std::string name = string_or(row, "name", "");
      if (name.empty() || int_or(row, "last_step", 0) == 0 || left == 0) return;
      --left;
      json::object found;
      object(found, curve(name, small_curve_points));
      into_.curves[name] = std::move(found);
    });
  }

  void boards() {
    array(into_.boards, {"/v1/boards", [](const Store& store) -> Result<json::value> {
                           return store.boards_json();
                         }});
    const std::int64_t after = into_.view.now_ms - six_hours_ms;
    std::size_t left = most_sampled_boards;
    views::for_each_row(into_.boards, [&](const json::object& row) {
      const std::string serial = string_or(row, "serial", "");
      if (serial.empty() || left == 0) return;
      --left;
      json::array samples;
      array(samples, {fmt::format("/v1/boards/{}/samples?after={}&limit={}",
                                  views::percent_encoded(serial), after, most_samples),
                      [serial, after](const Store& store) -> Result<json::value> {
                        return store.board_samples_json(serial, after, most_samples);
                      }});
      into_.samples[serial] = std::move(samples);
    });
    object(into_.probe, {"/v1/probe", [](const Store& store) -> Result<json::value> {
                           return store.probe_json();
                         }});
  }

  Documents& into_;
  std::string_view section_;
  const Ask& ask_;
};

}  // namespace

Status gather(Documents& documents, std::string_view section, const Ask& ask) {
  return Gathering(documents, section, ask).all();
}

const json::object* row_of(const Documents& documents) {
  return views::row_named(documents.programs, documents.view.program);
}

}  // namespace trainward::page
