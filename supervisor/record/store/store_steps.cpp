// Steps: put one by one, and thinned out when there are many.
#include <algorithm>
#include <cmath>
#include <limits>

#include "supervisor/record/store/curve/step_pyramid.hpp"
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

// SQLite takes NaN for null, which is a number that nobody told.
void keep_as_told(std::optional<double>& told) {
  if (told && std::isnan(*told)) told = std::numeric_limits<double>::infinity();
}

// What v_status and report look for among the first and the newest rows; these stay.
constexpr std::int64_t rows_looked_at = 64;

// The steps whose rows may go: whole buckets from `begin` to before `end`.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Result<Range> thinned_range(Connection& db, const std::string& program, std::int64_t keep) {
  constexpr std::int64_t bucket = StepPyramid::steps_of(0);
  Range range;
  bool enough = false;
  auto read = db.each(
      "select step from steps where program = ? order by step, attempt limit 1 offset ?",
      [&](const Row& row) {
        enough = true;
        range.begin = (StepPyramid::bucket_of(row.integer(0)) + 1) * bucket;
      },
      program, rows_looked_at - 1);
  if (!read || !enough) return read ? Result<Range>(range) : propagate(read);
  // An attempt that began far back needs what lies before it no less than one that goes on.
  std::optional<std::int64_t> newest;
  std::int64_t least = 0;
  read = db.each(
      "select step from steps where program = ? order by attempt desc, step desc limit ?",
      [&](const Row& row) {
        least = newest ? std::min(least, row.integer(0)) : row.integer(0);
        if (!newest) newest = row.integer(0);
      },
      program, rows_looked_at);
  if (!read) return propagate(read);
  const std::int64_t end = std::min(least, newest.value_or(0) - keep + 1);
  range.end = end > 0 ? StepPyramid::bucket_of(end) * bucket : 0;
  return range;
}

// Rows that v_attempts would take the distance of an attempt's last two steps from.
Status keep_distances(Connection& db, const std::string& program, std::int64_t first,
                      std::int64_t last) {
  return db.run(
      "update attempts set told_every = (select nullif(max(attempts.last_step, max(s.step)) - "
      "(select max(b.step) from steps b where b.program = attempts.program "
      "and b.attempt = attempts.number and b.step < max(attempts.last_step, "
      "(select max(n.step) from steps n where n.program = attempts.program "
      "and n.attempt = attempts.number))), 0) "
      "from steps s where s.program = attempts.program and s.attempt = attempts.number) "
      "where program = ?1 and not told_to_resume and told_every is null and ended_ms > 0 "
      "and number in (select attempt from steps where program = ?1 and step between ?2 and ?3)",
      program, first, last);
}

}  // namespace

Status Store::add_step(const std::string& program, const StepRow& row) {
  static const std::string sql =
      insert_sql<StepRow>("insert or replace into", "steps", {"program"});
  StepRow kept = row;
  keep_as_told(kept.loss);
  keep_as_told(kept.grad_norm);
  if (auto put = write_row(*impl_->connection, sql, kept, program); !put) return put;
  return StepPyramid(*impl_->connection, program).put(row.step);
}

Status Store::thin_steps(const std::string& program, std::int64_t keep, int most_buckets) {
  if (keep <= 0) return {};
  Connection& db = *impl_->connection;
  auto range = thinned_range(db, program, keep);
  if (!range) return propagate(range);
  const StepPyramid pyramid(db, program);
  for (std::int64_t begin = range->begin; begin < range->end && most_buckets > 0; --most_buckets) {
    std::optional<std::int64_t> next;
    auto read = db.each(
        "select step from steps where program = ? and step >= ? order by step limit 1",
        [&](const Row& row) { next = row.integer(0); }, program, begin);
    if (!read) return read;
    if (!next || *next >= range->end) return {};
    const std::int64_t bucket = StepPyramid::bucket_of(*next);
    begin = (bucket + 1) * StepPyramid::steps_of(0);
    auto thinned = keep_distances(db, program, bucket * StepPyramid::steps_of(0), begin - 1);
    if (thinned) thinned = pyramid.thin(bucket);
    if (!thinned) return thinned;
  }
  return {};
}

}  // namespace trainward::store
