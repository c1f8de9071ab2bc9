// Where the time went lately, or in all of a run.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

struct Spent {
  std::map<std::pair<std::string, std::string>, std::int64_t> ms;  // by phase and cause
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

// What of a span lies in the window.
void add(Spent& spent, std::string phase, std::string cause, std::int64_t begin, std::int64_t ms,
         std::optional<std::int64_t> window_from) {
  const std::int64_t end = begin + ms;
  if (window_from) {
    begin = std::clamp(begin, *window_from, std::max(*window_from, spent.to_ms));
    ms = std::min(end, spent.to_ms) - begin;
  } else {
    spent.from_ms = spent.from_ms == 0 ? begin : std::min(spent.from_ms, begin);
    spent.to_ms = std::max(spent.to_ms, end);
  }
  if (ms > 0) spent.ms[{std::move(phase), std::move(cause)}] += ms;
}

Status add_booked(Connection& db, const std::string& program,
                  std::optional<std::int64_t> window_from, Spent& spent) {
  const auto take = [&](const Row& row) {
    add(spent, row.text(0), row.text(1), row.integer(2), row.integer(3), window_from);
  };
  if (!window_from) {
    return db.each("select phase, cause, begin_ms, duration_ms from ledger where program = ?", take,
                   program);
  }
  // Spans touch: of those that began before the window only the last reaches into it.
  auto read = db.each(
      "select phase, cause, begin_ms, duration_ms from ledger where program = ? and begin_ms < ? "
      "order by begin_ms desc, id desc limit 1",
      take, program, *window_from);
  if (!read) return read;
  return db.each(
      "select phase, cause, begin_ms, duration_ms from ledger where program = ? and begin_ms >= ?",
      take, program, *window_from);
}

// The span that goes on is in the state that the daemon has committed; a program that nobody wants
// to run has none.
void add_open(const std::string& core_state, std::int64_t now_ms,
              std::optional<std::int64_t> window_from, Spent& spent) {
  const auto state = parse_json(core_state, "state");
  if (!state || !state->is_object()) return;
  const auto span = get_object(state->get_object(), "span");
  const auto since = span ? get_object(**span, "since")
                          : Result<const json::object*>(tl::unexpected<Error>(span.error()));
  if (!since) return;
  const std::int64_t begin = int_or(**since, "wall_ms", now_ms);
  add(spent, string_or(**span, "phase", ""), string_or(**span, "cause", ""), begin,
      std::max<std::int64_t>(now_ms - begin, 0), window_from);
}

}  // namespace

Result<std::optional<double>> effective_share(Connection& db, const std::string& program,
                                              const std::string& core_state, Time now) {
  Spent spent;
  auto read = db.each(
      // A sum of damaged durations may be more than an integer holds: no failure, and no more than
      // this.
      "select phase, cast(min(total(duration_ms), 1e15) as integer) from ledger where program = ? "
      "group by phase",
      [&](const Row& row) { add(spent, row.text(0), "", 0, row.integer(1), {}); }, program);
  if (!read) return propagate(read);
  add_open(core_state, now.wall.ms, {}, spent);
  std::int64_t total = 0;
  std::int64_t effective = 0;
  for (const auto& [key, ms] : spent.ms) {
    total += ms;
    if (key.first == "stepping") effective += ms;
  }
  if (total == 0) return std::nullopt;
  return static_cast<double>(effective) / static_cast<double>(total);
}

Result<json::object> Store::ledger_json(const std::string& program,
                                        std::optional<std::int64_t> window_seconds,
                                        Time now) const {
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  auto row = this->program(program);
  if (!row) return propagate(row);
  if (!*row) {
    return fail(ErrorKind::usage, fmt::format("no such program: {}", program), "",
                "trainwardctl status lists them");
  }
  Spent spent;
  std::optional<std::int64_t> window_from;
  if (window_seconds) {
    spent.to_ms = now.wall.ms;
    spent.from_ms = now.wall.ms - std::min(*window_seconds, now.wall.ms / 1000) * 1000;
    window_from = spent.from_ms;
  }
  if (auto booked = add_booked(db, program, window_from, spent); !booked) return propagate(booked);
  add_open((*row)->core_state, now.wall.ms, window_from, spent);

  using Entry = std::pair<std::pair<std::string, std::string>, std::int64_t>;
  std::vector<Entry> entries(spent.ms.begin(), spent.ms.end());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.second > b.second; });
  std::int64_t total = 0;
  std::int64_t effective = 0;
  for (const auto& [key, ms] : entries) {
    total += ms;
    if (key.first == "stepping") effective += ms;
  }
  const auto share = [&](std::int64_t ms) {
    return total == 0 ? 0.0 : static_cast<double>(ms) / static_cast<double>(total);
  };
  const auto seconds = [](std::int64_t ms) { return static_cast<double>(ms) / 1000.0; };
  json::array phases;
  for (const auto& [key, ms] : entries) {
    phases.push_back(json::object{{"phase", key.first},
                                  {"cause", key.second},
                                  {"seconds", seconds(ms)},
                                  {"share", share(ms)}});
  }
  return json::object{{"program", program},
                      {"from_ms", spent.from_ms},
                      {"to_ms", spent.to_ms},
                      {"total_seconds", seconds(total)},
                      {"effective_share", share(effective)},
                      {"phases", std::move(phases)}};
}

}  // namespace trainward::store
