// Runs made up by chance, and what a curve of them must show, worked out without any bucket.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "fixture.hpp"

namespace trainward::store {

// Steps as they were put: by step, then by attempt.
using Steps = std::map<std::int64_t, std::map<std::int64_t, StepRow>>;

class History {
 public:
  explicit History(unsigned seed) : chance_(seed) {}

  [[nodiscard]] bool one_in(int n) { return below(n) == 0; }
  [[nodiscard]] std::int64_t below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(chance_);
  }

  StepRow step(std::int64_t number, std::int64_t attempt) {
    StepRow row;
    row.step = number;
    row.attempt = attempt;
    row.at_ms = epoch_ms + ++tick_ * 250;
    row.loss = told(2.0);
    row.grad_norm = told(1.0);
    row.learning_rate = told(1e-4);
    row.tokens_per_second = told(4000);
    if (!one_in(3)) row.tokens = number * 512;
    return row;
  }

  // An attempt that goes on from `resume`; `put` is told each of its steps.
  template <typename Put>
  void attempt(std::int64_t number, std::int64_t resume, std::int64_t steps, std::int64_t every,
               const Put& put) {
    for (std::int64_t i = 1; i <= steps; ++i) {
      const StepRow row = step(resume + i * every, number);
      put(row);
      steps_[row.step][number] = row;
      highest_ = std::max(highest_, row.step);
      if (one_in(50)) put(row);  // told again
    }
  }

  [[nodiscard]] const Steps& steps() const { return steps_; }
  [[nodiscard]] std::int64_t highest() const { return highest_; }

 private:
  std::optional<double> told(double about) {
    if (one_in(12)) return std::nullopt;
    if (one_in(15)) return std::numeric_limits<double>::quiet_NaN();
    if (one_in(40)) return std::numeric_limits<double>::infinity();
    return about * std::uniform_real_distribution<double>(0.5, 1.5)(chance_);
  }

  std::mt19937 chance_;
  std::int64_t tick_ = 0;
  std::int64_t highest_ = 0;
  Steps steps_;
};

inline std::optional<double> measure_of(const StepRow& row, const std::string& metric) {
  if (metric == "loss") return row.loss;
  if (metric == "grad_norm") return row.grad_norm;
  // Of these a number that is none counts as not told.
  const auto told = metric == "learning_rate" ? row.learning_rate : row.tokens_per_second;
  return told && std::isnan(*told) ? std::nullopt : told;
}

// The columns of a curve.
inline json::object columns_by_hand(const Steps& steps, std::int64_t from, std::int64_t to,
                                    std::int64_t bucket_steps, const std::string& metric) {
  json::object columns;
  for (const char* name :
       {"step", "min", "max", "mean", "count", "nan", "attempt", "at_ms", "tokens"}) {
    columns[name] = json::array();
  }
  const std::int64_t begin = from / bucket_steps * bucket_steps;
  const std::int64_t end = to / bucket_steps * bucket_steps + bucket_steps;
  auto step = steps.lower_bound(begin);
  const auto put = [&](const char* name, json::value value) {
    columns[name].as_array().push_back(std::move(value));
  };
  while (step != steps.end() && step->first < end) {
    const std::int64_t bucket = step->first / bucket_steps;
    put("step", step->first);
    std::vector<double> numbers;
    std::int64_t nan = 0;
    std::int64_t attempt = 0;
    std::int64_t at_ms = 0;
    json::value tokens;
    for (; step != steps.end() && step->first / bucket_steps == bucket; ++step) {
      const auto& [number, row] = *step->second.rbegin();
      attempt = std::max(attempt, number);
      at_ms = std::max(at_ms, row.at_ms);
      if (row.tokens) tokens = *row.tokens;
      const auto told = measure_of(row, metric);
      if (!told) continue;
      if (std::isfinite(*told)) {
        numbers.push_back(*told);
      } else {
        ++nan;
      }
    }
    double sum = 0;
    for (const double number : numbers) sum += number;
    const bool any = !numbers.empty();
    put("min", any ? json::value(*std::min_element(numbers.begin(), numbers.end())) : nullptr);
    put("max", any ? json::value(*std::max_element(numbers.begin(), numbers.end())) : nullptr);
    put("mean", any ? json::value(sum / static_cast<double>(numbers.size())) : nullptr);
    put("count", std::ssize(numbers));
    put("nan", nan);
    put("attempt", attempt);
    put("at_ms", at_ms);
    put("tokens", std::move(tokens));
  }
  return columns;
}

// Means were added up in another order.
inline void expect_same(const json::object& columns, const json::object& expected) {
  ASSERT_EQ(columns.size(), expected.size());
  for (const auto& [name, wanted] : expected) {
    const json::array& got = columns.at(name).as_array();
    ASSERT_EQ(got.size(), wanted.as_array().size()) << name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (name == "mean" && got[i].is_double() && wanted.as_array()[i].is_double()) {
        const double number = wanted.as_array()[i].as_double();
        ASSERT_NEAR(got[i].as_double(), number, 1e-9 * std::abs(number)) << name << " " << i;
      } else {
        ASSERT_EQ(got[i], wanted.as_array()[i]) << name << " " << i;
      }
    }
  }
}

}  // namespace trainward::store
