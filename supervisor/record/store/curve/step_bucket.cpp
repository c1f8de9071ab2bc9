#include "supervisor/record/store/curve/step_bucket.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trainward::store {
namespace {

template <typename T>
void lower(std::optional<T>& to, const std::optional<T>& other) {
  if (other && (!to || *other < *to)) to = other;
}

template <typename T>
void raise(std::optional<T>& to, const std::optional<T>& other) {
  if (other && (!to || *other > *to)) to = other;
}

// 0 is no time.
void earlier(std::int64_t& to, std::int64_t other) {
  if (other > 0 && (to == 0 || other < to)) to = other;
}

// Always a number, which is what the column takes.
double bounded_sum(double a, double b) {
  constexpr double most = std::numeric_limits<double>::max();
  return std::clamp(a + b, -most, most);
}

}  // namespace

void Measure::add(const std::optional<double>& told) {
  if (!told) return;
  if (!std::isfinite(*told)) {
    ++nan;
    return;
  }
  lower(least, told);
  raise(most, told);
  sum = bounded_sum(sum, *told);
  ++count;
}

void Measure::add(const Measure& other) {
  lower(least, other.least);
  raise(most, other.most);
  sum = bounded_sum(sum, other.sum);
  count += other.count;
  nan += other.nan;
}

std::optional<double> Measure::mean() const {
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

void StepBucket::add_replaced(const StepRow& row) {
  ++rows;
  earlier(first_ms, row.at_ms);
  if (row.loss && std::isfinite(*row.loss)) lower(least_loss, row.loss);
}

void StepBucket::add(const StepRow& row) {
  add_replaced(row);
  first_step = steps == 0 ? row.step : first_step;
  first_attempt = steps == 0 ? row.attempt : std::min(first_attempt, row.attempt);
  last_attempt = std::max(last_attempt, row.attempt);
  last_step = row.step;
  last_ms = std::max(last_ms, row.at_ms);
  if (row.tokens) tokens = row.tokens;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    measures[i].add(value_of(row, curve_figures[i]));
  }
  ++steps;
}

void StepBucket::add(const StepBucket& later) {
  rows += later.rows;
  earlier(first_ms, later.first_ms);
  lower(least_loss, later.least_loss);
  if (later.steps == 0) return;
  const bool ends = steps == 0 || later.last_step >= last_step;
  if (later.tokens && (ends || !tokens)) tokens = later.tokens;
  first_step = steps == 0 ? later.first_step : std::min(first_step, later.first_step);
  first_attempt = steps == 0 ? later.first_attempt : std::min(first_attempt, later.first_attempt);
  last_attempt = std::max(last_attempt, later.last_attempt);
  last_step = ends ? later.last_step : last_step;
  last_ms = std::max(last_ms, later.last_ms);
  for (std::size_t i = 0; i < measures.size(); ++i) measures[i].add(later.measures[i]);
  steps += later.steps;
}

void StepBucket::cut(std::int64_t from, std::int64_t to) {
  const std::int64_t whole = last_step - first_step + 1;
  const std::int64_t gone = std::min(to, last_step) - std::max(from, first_step) + 1;
  if (steps == 0 || gone <= 0) return;
  const auto part = [&](std::int64_t count) { return count * (whole - gone) / whole; };
  if (part(steps) == 0) {
    StepBucket nothing;
    nothing.rows = rows;
    nothing.first_ms = first_ms;
    nothing.least_loss = least_loss;
    *this = nothing;
    return;
  }
  for (Measure& measure : measures) {
    const double mean = measure.mean().value_or(0);
    measure.count = part(measure.count);
    measure.nan = part(measure.nan);
    measure.sum = mean * static_cast<double>(measure.count);
    if (measure.count > 0) continue;
    measure.least.reset();
    measure.most.reset();
  }
  steps = part(steps);
  if (to >= last_step) {
    tokens.reset();
    last_step = from - 1;
  } else if (from <= first_step) {
    first_step = to + 1;
  }
}

void BucketOfRows::add(const StepRow& row) {
  if (newest_ && newest_->step == row.step) {
    bucket_.add_replaced(*newest_);
  } else if (newest_) {
    bucket_.add(*newest_);
  }
  newest_ = row;
}

StepBucket BucketOfRows::take() {
  if (newest_) bucket_.add(*newest_);
  newest_.reset();
  return std::exchange(bucket_, {});
}

}  // namespace trainward::store
