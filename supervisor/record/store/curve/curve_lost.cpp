#include "supervisor/record/store/curve/curve_lost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "supervisor/record/store/curve/curve_ranges.hpp"
#include "supervisor/record/store/curve/step_bucket.hpp"
#include "supervisor/record/store/rows/rows_json.hpp"

namespace trainward::store {
namespace {

constexpr std::size_t most_lost_ranges = 500;  // the longest
constexpr std::int64_t most_lost_points = 4'000;

std::vector<StepRange> ranges_lost(CurveSpan span, const std::vector<CurveAttempt>& attempts) {
  std::vector<StepRange> done;
  for (const CurveAttempt& attempt : attempts) {
    if (attempt.first_step == 0) continue;
    done.push_back({attempt.attempt, attempt.first_step, attempt.last_step});
  }
  std::vector<StepRange> lost;
  for (StepRange range : made_again(done)) {
    range.from = std::max(range.from, span.from);
    range.to = std::min(range.to, span.to);
    if (range.from <= range.to) lost.push_back(range);
  }
  if (lost.size() > most_lost_ranges) {
    std::nth_element(lost.begin(), lost.begin() + most_lost_ranges, lost.end(),
                     [](const StepRange& a, const StepRange& b) {
                       return std::pair(a.to - a.from, a.attempt) >
                              std::pair(b.to - b.from, b.attempt);
                     });
    lost.resize(most_lost_ranges);
    std::sort(lost.begin(), lost.end(), [](const StepRange& a, const StepRange& b) {
      return std::pair(a.attempt, a.from) < std::pair(b.attempt, b.from);
    });
  }
  return lost;
}

// All of its steps where those are few, else one step of every `stride`.
Status add_lost(Connection& db, const std::string& program, const StepRange& range,
                std::string_view metric, std::int64_t stride, bool sampled, json::array& steps,
                json::array& means) {
  const auto add = [&](const Row& row) {
    Measure told;
    std::optional<double> number;
    row.read(1, number);
    told.add(number);
    steps.emplace_back(row.integer(0));
    means.push_back(or_null(told.mean()));
  };
  if (sampled) {
    const std::string one = fmt::format(
        "select step, {} from steps where program = ? and attempt = ? and step between ? and ? "
        "order by step limit 1",
        metric);
    for (std::int64_t step = range.from; step <= range.to; step += stride) {
      auto read =
          db.each(one, add, program, range.attempt, step, std::min(step + stride - 1, range.to));
      if (!read) return read;
    }
    return {};
  }
  // By the primary key: the other index would look each of them up.
  return db.each(fmt::format("select step, {} from steps not indexed where program = ? "
                             "and step between ? and ? and attempt = ? order by step",
                             metric),
                 add, program, range.from, range.to, range.attempt);
}

}  // namespace

Result<json::array> curve_lost(Connection& db, const std::string& program, CurveSpan span,
                               const std::vector<CurveAttempt>& attempts, std::string_view metric) {
  const std::vector<StepRange> lost = ranges_lost(span, attempts);
  std::int64_t steps_in_all = 0;
  for (const StepRange& range : lost) steps_in_all += range.to - range.from + 1;
  const bool sampled = steps_in_all > most_lost_points;
  // Half of the points are for the ends of the ranges.
  const std::int64_t stride = sampled ? steps_in_all / (most_lost_points / 2) + 1 : 1;
  json::array rows;
  for (const StepRange& range : lost) {
    json::array steps;
    json::array means;
    auto added = add_lost(db, program, range, metric, stride, sampled, steps, means);
    if (!added) return propagate(added);
    if (steps.empty()) continue;  // thinned out
    rows.push_back(json::object{{"attempt", range.attempt},
                                {"from", range.from},
                                {"to", range.to},
                                {"step", std::move(steps)},
                                {"mean", std::move(means)}});
  }
  return rows;
}

}  // namespace trainward::store
