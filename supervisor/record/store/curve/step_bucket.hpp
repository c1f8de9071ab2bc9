// What a stretch of steps comes to: for a curve of so many steps that nobody can look at each.
// Pure: rows of steps and smaller buckets go in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/record/store/rows/rows.hpp"

namespace trainward::store {

// Of the steps that told it.
struct Measure {
  std::optional<double> least = {};  // of the numbers; none if there were no numbers
  std::optional<double> most = {};
  double sum = 0;
  std::int64_t count = 0;  // of numbers
  std::int64_t nan = 0;    // told, and not a number

  void add(const std::optional<double>& told);
  void add(const Measure& other);
  [[nodiscard]] std::optional<double> mean() const;
  friend bool operator==(const Measure&, const Measure&) = default;
};

// Of each step as the newest attempt made it; `rows`, `least_loss` and `first_ms` are of all.
struct StepBucket {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t steps = 0;  // on record; 0: nothing but what was replaced
  std::int64_t rows = 0;   // a step that was made again has one for each attempt
  std::int64_t first_attempt = 0;
  std::int64_t last_attempt = 0;
  std::int64_t first_ms = 0;  // 0: no step told a time
  std::int64_t last_ms = 0;
  std::optional<std::int64_t> tokens = {};  // of the last step that told them
  std::optional<double> least_loss = {};
  // In the order of curve_figures.
  std::array<Measure, curve_figures.size()> measures = {};

  void add(const StepRow& row);
  void add_replaced(const StepRow& row);  // a newer attempt made this step
  void add(const StepBucket& later);      // made of other steps, further on if it is all the same
  // A newer attempt made the steps `from` to `to` again, and the single steps of this bucket are no
  // longer known: as many numbers go as steps do, the mean of the rest stays what it was.
  void cut(std::int64_t from, std::int64_t to);
  friend bool operator==(const StepBucket&, const StepBucket&) = default;
};

// Makes a bucket of rows that come in the order of step and attempt.
class BucketOfRows {
 public:
  void add(const StepRow& row);
  StepBucket take();  // and starts over

 private:
  StepBucket bucket_;
  std::optional<StepRow> newest_;
};

}  // namespace trainward::store
