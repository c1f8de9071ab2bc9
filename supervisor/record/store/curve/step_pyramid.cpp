#include "supervisor/record/store/curve/step_pyramid.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "supervisor/record/store/rows/row_sql.hpp"

namespace trainward::store {
namespace {

// Those of a bucket before its measures, and those of each measure after its name.
constexpr std::array<std::string_view, 9> plain_columns{
    "first_step",   "last_step", "steps",   "rows",  "first_attempt",
    "last_attempt", "first_ms",  "last_ms", "tokens"};
constexpr std::array<std::string_view, 5> measure_columns{"min", "max", "sum", "count", "nan"};

std::string bucket_columns() {
  std::string text;
  for (const std::string_view name : plain_columns) text += fmt::format("{}, ", name);
  text += "least_loss";
  for (const StepFigure& figure : curve_figures) {
    for (const std::string_view column : measure_columns) {
      text += fmt::format(", {}_{}", figure.name, column);
    }
  }
  return text;
}

constexpr int first_measure_column = static_cast<int>(plain_columns.size()) + 1;
constexpr int columns_of_buckets =
    first_measure_column + static_cast<int>(curve_figures.size() * measure_columns.size());

// From a row that has the bucket's columns after its number.
StepBucket read_bucket(const Row& row) {
  StepBucket made;
  int column = 1;
  for (std::int64_t* to :
       {&made.first_step, &made.last_step, &made.steps, &made.rows, &made.first_attempt,
        &made.last_attempt, &made.first_ms, &made.last_ms}) {
    row.read(column++, *to);
  }
  row.read(column++, made.tokens);
  row.read(column++, made.least_loss);
  for (Measure& measure : made.measures) {
    row.read(column++, measure.least);
    row.read(column++, measure.most);
    row.read(column++, measure.sum);
    row.read(column++, measure.count);
    row.read(column++, measure.nan);
  }
  return made;
}

const std::string& insert_bucket() {
  static const std::string sql = [] {
    std::string places = "?, ?, ?";
    for (int i = 0; i < columns_of_buckets; ++i) places += ", ?";
    return fmt::format(
        "insert or replace into step_buckets (program, level, bucket, {}) values ({})",
        bucket_columns(), places);
  }();
  return sql;
}

const std::string& select_steps() {
  static const std::string sql = "select " + columns<StepRow>() +
                                 " from steps where program = ? and step between ? and ? "
                                 "order by step, attempt";
  return sql;
}

}  // namespace

Status StepPyramid::write(int level, std::int64_t bucket, const StepBucket& made) const {
  const auto& [loss, norm, rate, speed] = made.measures;
  const auto run = [&](const auto&... values) {
    return db_.run(insert_bucket(), program_, level, bucket, made.first_step, made.last_step,
                   made.steps, made.rows, made.first_attempt, made.last_attempt, made.first_ms,
                   made.last_ms, made.tokens, made.least_loss, values...);
  };
  return run(loss.least, loss.most, loss.sum, loss.count, loss.nan, norm.least, norm.most, norm.sum,
             norm.count, norm.nan, rate.least, rate.most, rate.sum, rate.count, rate.nan,
             speed.least, speed.most, speed.sum, speed.count, speed.nan);
}

Status StepPyramid::stored(int level, std::int64_t first, std::int64_t last,
                           const Visit& visit) const {
  static const std::string sql = "select bucket, " + bucket_columns() +
                                 " from step_buckets where program = ? and level = ? "
                                 "and bucket between ? and ? order by bucket";
  return db_.each(
      sql, [&](const Row& row) { visit(row.integer(0), read_bucket(row)); }, program_, level, first,
      last);
}

Result<StepBucket> StepPyramid::make(int level, std::int64_t bucket) const {
  StepBucket made;
  const auto add = [&](std::int64_t, const StepBucket& lower) { made.add(lower); };
  if (level > 0) {
    if (auto read = stored(level - 1, bucket * 8, bucket * 8 + 7, add); !read)
      return propagate(read);
    return made;
  }
  BucketOfRows rows;
  auto read = db_.each(
      select_steps(), [&](const Row& row) { rows.add(read_row<StepRow>(row)); }, program_,
      bucket * steps_of(0), bucket * steps_of(0) + steps_of(0) - 1);
  if (!read) return propagate(read);
  const StepBucket newer = rows.take();
  if (read = stored(thinned, bucket, bucket, add); !read) return propagate(read);
  if (newer.steps > 0) made.cut(newer.first_step, newer.last_step);
  made.add(newer);
  return made;
}

Result<StepBucket> StepPyramid::make_open(int level, std::int64_t step) const {
  if (level == 0) return make(0, bucket_of(step));
  auto open = make_open(level - 1, step);
  if (!open) return open;
  StepBucket made;
  bool taken = false;
  const std::int64_t first = bucket_of(step, level) * 8;
  const std::int64_t mine = bucket_of(step, level - 1);
  auto read =
      stored(level - 1, first, first + 7, [&](std::int64_t bucket, const StepBucket& lower) {
        if (bucket >= mine && !taken) {
          made.add(*open);
          taken = true;
        }
        if (bucket != mine) made.add(lower);
      });
  if (!read) return propagate(read);
  if (!taken) made.add(*open);
  return made;
}

Result<std::optional<std::int64_t>> StepPyramid::open_step() const {
  std::optional<std::int64_t> step;
  auto read = db_.each(
      "select step from step_bucket_open where program = ?",
      [&](const Row& row) { step = row.integer(0); }, program_);
  if (!read) return propagate(read);
  return step;
}

Status StepPyramid::set_open(std::int64_t step) const {
  return db_.run("insert or replace into step_bucket_open (program, step) values (?, ?)", program_,
                 step);
}

Status StepPyramid::put(std::int64_t step) const {
  auto open = open_step();
  if (!open) return propagate(open);
  if (*open && bucket_of(**open) == bucket_of(step)) return {};
  for (int level = 0; *open && level < levels; ++level) {
    const std::int64_t bucket = bucket_of(**open, level);
    if (bucket == bucket_of(step, level)) break;
    auto made = make(level, bucket);
    if (!made) return propagate(made);
    if (auto written = write(level, bucket, *made); !written) return written;
  }
  return set_open(step);
}

Status StepPyramid::build() const {
  BucketOfRows rows;
  std::array<StepBucket, levels> made;
  std::optional<std::int64_t> newest;
  Status written;
  // Writes what the step before ended, as put() does, in one pass over the rows.
  const auto leave_for = [&](std::optional<std::int64_t> next) {
    made[0] = rows.take();
    for (int level = 0; level < levels && written; ++level) {
      const std::int64_t bucket = bucket_of(*newest, level);
      if (next && bucket == bucket_of(*next, level)) return;
      const auto at = static_cast<std::size_t>(level);
      written = write(level, bucket, made[at]);
      if (at + 1 < made.size()) made[at + 1].add(made[at]);
      made[at] = {};
    }
  };
  auto read = db_.each(
      select_steps(),
      [&](const Row& row) {
        const auto step = read_row<StepRow>(row);
        if (newest && bucket_of(*newest) != bucket_of(step.step)) leave_for(step.step);
        newest = step.step;
        rows.add(step);
      },
      program_, std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
  if (!read || !newest) return read;
  leave_for(std::nullopt);
  return written ? set_open(*newest) : written;
}

Status StepPyramid::read(int level, std::int64_t from, std::int64_t to, const Visit& visit) const {
  auto open = open_step();
  if (!open) return propagate(open);
  const std::int64_t first = bucket_of(from, level);
  const std::int64_t last = bucket_of(to, level);
  std::optional<std::int64_t> mine;
  if (*open) mine = bucket_of(**open, level);
  if (mine && (*mine < first || *mine > last)) mine.reset();
  StepBucket made;
  if (mine) {
    auto newest = make_open(level, **open);
    if (!newest) return propagate(newest);
    made = *newest;
  }
  auto done = stored(level, first, last, [&](std::int64_t bucket, const StepBucket& known) {
    if (mine && bucket >= *mine) {
      visit(*mine, made);
      const bool was_it = bucket == *mine;
      mine.reset();
      if (was_it) return;
    }
    visit(bucket, known);
  });
  if (done && mine) visit(*mine, made);
  return done;
}

Result<StepBucket> StepPyramid::whole() const {
  StepBucket all;
  auto done = read(levels - 1, 0, std::numeric_limits<std::int64_t>::max(),
                   [&](std::int64_t, const StepBucket& bucket) { all.add(bucket); });
  if (!done) return propagate(done);
  return all;
}

Status StepPyramid::thin(std::int64_t bucket) const {
  static const std::string keep = fmt::format(
      "insert or replace into step_buckets (program, level, bucket, {0}) select program, {1}, "
      "bucket, {0} from step_buckets where program = ? and level = 0 and bucket = ?",
      bucket_columns(), thinned);
  if (auto kept = db_.run(keep, program_, bucket); !kept) return kept;
  return db_.run("delete from steps where program = ? and step between ? and ?", program_,
                 bucket * steps_of(0), bucket * steps_of(0) + steps_of(0) - 1);
}

}  // namespace trainward::store
