// The curve of a run: points of a bounded number, and what happened along it.
//
// Time is bounded too, however long the run: single rows are read for a few thousand steps, buckets
// beyond that.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "supervisor/record/store/curve/curve_attempts.hpp"
#include "supervisor/record/store/curve/curve_lost.hpp"
#include "supervisor/record/store/curve/step_pyramid.hpp"
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/rows/rows_json.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t most_rows = 16'384;  // read one by one
constexpr std::int64_t most_checkpoints = 4'000;

using Span = CurveSpan;

// A power of two, and 1 for single steps.
struct Resolution {
  std::int64_t bucket_steps = 1;
  bool of_rows = true;
};

struct Point {
  std::int64_t place = 0;  // the step by the steps of a bucket
  StepBucket bucket;
};

std::int64_t buckets_in(Span span, std::int64_t bucket_steps) {
  return span.to / bucket_steps - span.from / bucket_steps + 1;
}

Result<Resolution> resolution_of(Connection& db, const std::string& program, Span span,
                                 std::int64_t buckets) {
  Resolution found;
  std::int64_t rows = 0;
  std::int64_t thinned = 0;
  auto read = db.each(
      "select count(*) from (select 1 from steps where program = ? and step between ? and ? "
      "limit ?)",
      [&](const Row& row) { rows = row.integer(0); }, program, span.from, span.to, most_rows + 1);
  if (!read) return propagate(read);
  read = db.each(
      "select exists (select 1 from step_buckets where program = ? and level = ? "
      "and bucket between ? and ?)",
      [&](const Row& row) { thinned = row.integer(0); }, program, StepPyramid::thinned,
      StepPyramid::bucket_of(span.from), StepPyramid::bucket_of(span.to));
  if (!read) return propagate(read);
  found.of_rows = rows <= most_rows && thinned == 0;
  if (found.of_rows && rows <= buckets) return found;
  found.bucket_steps = found.of_rows ? 1 : StepPyramid::steps_of(0);
  while (buckets_in(span, found.bucket_steps) > buckets) found.bucket_steps *= 2;
  return found;
}

// Whole buckets, so that their numbers are the same whatever part of the run is asked for.
Result<std::vector<Point>> points_of(Connection& db, const std::string& program, Span asked,
                                     const Resolution& resolution) {
  const std::int64_t size = resolution.bucket_steps;
  const Span span{asked.from / size * size, asked.to / size * size + size - 1};
  std::vector<Point> points;
  if (resolution.of_rows) {
    static const std::string sql = "select " + columns<StepRow>() +
                                   " from steps where program = ? and step between ? and ? "
                                   "order by step, attempt";
    BucketOfRows rows;
    std::optional<std::int64_t> place;
    auto read = db.each(
        sql,
        [&](const Row& row) {
          const auto step = read_row<StepRow>(row);
          const std::int64_t here = step.step / resolution.bucket_steps;
          if (place && *place != here) points.push_back({*place, rows.take()});
          place = here;
          rows.add(step);
        },
        program, span.from, span.to);
    if (!read) return propagate(read);
    if (place) points.push_back({*place, rows.take()});
    return points;
  }
  int level = 0;
  while (level + 1 < StepPyramid::levels &&
         StepPyramid::steps_of(level + 1) <= resolution.bucket_steps) {
    ++level;
  }
  const std::int64_t together = resolution.bucket_steps / StepPyramid::steps_of(level);
  auto read =
      StepPyramid(db, program)
          .read(level, span.from, span.to, [&](std::int64_t bucket, const StepBucket& made) {
            const std::int64_t here = bucket / together;
            if (points.empty() || points.back().place != here) {
              points.push_back({here, {}});
            }
            points.back().bucket.add(made);
          });
  if (!read) return propagate(read);
  std::erase_if(points, [](const Point& point) { return point.bucket.steps == 0; });
  return points;
}

json::object columns_of(const std::vector<Point>& points, std::size_t measure) {
  json::array step, least, most, mean, count, nan, attempt, at_ms, tokens;
  for (const Point& point : points) {
    const StepBucket& bucket = point.bucket;
    const Measure& told = bucket.measures[measure];
    step.emplace_back(bucket.first_step);
    least.push_back(or_null(told.least));
    most.push_back(or_null(told.most));
    mean.push_back(or_null(told.mean()));
    count.emplace_back(told.count);
    nan.emplace_back(told.nan);
    attempt.emplace_back(bucket.last_attempt);
    at_ms.emplace_back(bucket.last_ms);
    tokens.push_back(or_null(bucket.tokens));
  }
  return {
      {"step", std::move(step)},       {"min", std::move(least)},   {"max", std::move(most)},
      {"mean", std::move(mean)},       {"count", std::move(count)}, {"nan", std::move(nan)},
      {"attempt", std::move(attempt)}, {"at_ms", std::move(at_ms)}, {"tokens", std::move(tokens)}};
}

// Those that touch the range.
json::array rows_of(const std::vector<CurveAttempt>& attempts, Span span) {
  json::array rows;
  for (const CurveAttempt& attempt : attempts) {
    const std::int64_t begin =
        attempt.first_step > 0 ? attempt.first_step : attempt.resume_step.value_or(0);
    if (begin <= span.to && std::max(attempt.last_step, begin) >= span.from) {
      rows.push_back(to_json(attempt));
    }
  }
  return rows;
}

// As the newest attempt made them; of more than there are points the last of each bucket.
Result<json::object> evaluations_of(Connection& db, const std::string& program, Span span,
                                    std::int64_t buckets) {
  struct Made {
    std::int64_t step;
    std::int64_t attempt;
    std::optional<double> loss;
  };
  std::vector<Made> made;
  auto read = db.each(
      "select step, attempt, loss from evaluations where program = ? and step between ? and ? "
      "order by step, attempt",
      [&](const Row& row) {
        Made here{row.integer(0), row.integer(1), {}};
        Measure told;
        std::optional<double> loss;
        row.read(2, loss);
        told.add(loss);
        here.loss = told.mean();
        if (!made.empty() && made.back().step == here.step) made.pop_back();
        made.push_back(here);
      },
      program, span.from, span.to);
  if (!read) return propagate(read);
  std::int64_t together = 1;
  if (std::ssize(made) > buckets) {
    while (buckets_in(span, together) > buckets) together *= 2;
  }
  json::array step, loss, attempt;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const bool last =
        i + 1 == made.size() || made[i + 1].step / together != made[i].step / together;
    if (!last) continue;
    step.emplace_back(made[i].step);
    loss.push_back(or_null(made[i].loss));
    attempt.emplace_back(made[i].attempt);
  }
  return json::object{
      {"step", std::move(step)}, {"loss", std::move(loss)}, {"attempt", std::move(attempt)}};
}

Result<json::array> checkpoints_of(Connection& db, const std::string& program, Span span) {
  return rows_json(db,
                   "select * from (select step, state, at_ms from checkpoints where program = ? "
                   "and step between ? and ? order by state = 'pruned', step desc limit ?) "
                   "order by step, at_ms",
                   program, span.from, span.to, most_checkpoints);
}

template <typename Document>
Status put(json::object& into, std::string_view key, Result<Document> document) {
  if (!document) return propagate(document);
  into[key] = std::move(*document);
  return {};
}

}  // namespace

Result<json::object> Store::curve_json(const std::string& program, const CurveQuery& query) const {
  const auto* const metric = std::ranges::find(curve_figures, query.metric, &StepFigure::name);
  if (metric == curve_figures.end()) {
    return fail(ErrorKind::usage, fmt::format("steps have no measure '{}'", query.metric), "",
                fmt::format("{}", fmt::join(trainward::names_of(curve_figures), ", ")));
  }
  Connection& db = *impl_->connection;
  const Snapshot snapshot(db);
  auto whole = StepPyramid(db, program).whole();
  if (!whole) return propagate(whole);
  constexpr std::int64_t furthest = std::numeric_limits<std::int64_t>::max() / 4;
  const Span span{std::clamp<std::int64_t>(query.from.value_or(whole->first_step), 0, furthest),
                  std::clamp<std::int64_t>(query.to.value_or(whole->last_step), 0, furthest)};
  // What lies outside of the run takes no buckets.
  const Span seen{std::max(span.from, whole->first_step), std::min(span.to, whole->last_step)};
  const std::int64_t buckets = std::clamp<std::int64_t>(query.buckets, 1, most_curve_buckets);
  Resolution resolution;
  std::vector<Point> points;
  if (seen.from <= seen.to) {
    auto chosen = resolution_of(db, program, seen, buckets);
    if (!chosen) return propagate(chosen);
    resolution = *chosen;
    auto read = points_of(db, program, seen, resolution);
    if (!read) return propagate(read);
    points = std::move(*read);
  }
  json::object curve{
      {"program", program},
      {"metric", query.metric},
      {"from", span.from},
      {"to", span.to},
      {"first_step", whole->steps > 0 ? json::value(whole->first_step) : json::value()},
      {"newest_step", whole->steps > 0 ? json::value(whole->last_step) : json::value()},
      {"bucket_steps", resolution.bucket_steps},
      {"columns",
       columns_of(points, static_cast<std::size_t>(std::distance(curve_figures.begin(), metric)))}};
  const auto attempts = curve_attempts(db, program);
  if (!attempts) return tl::unexpected<Error>(attempts.error());
  auto ok = put(curve, "lost", curve_lost(db, program, span, *attempts, metric->name));
  curve["attempts"] = rows_of(*attempts, span);
  if (ok) ok = put(curve, "evaluations", evaluations_of(db, program, span, buckets));
  if (ok) ok = put(curve, "checkpoints", checkpoints_of(db, program, span));
  if (!ok) return propagate(ok);
  return curve;
}

}  // namespace trainward::store
