// The steps of a program in buckets of 64, 512, 4096, … steps, kept up as steps are put, so that a
// stretch of any length is read from a few thousand rows.
//
// A bucket is made of what is below it (level 0: of the rows of its steps) when the first step
// outside of it is put; a step costs a look at one row then, and what was put in whichever order,
// again, or by another attempt comes to the same. The buckets that the newest step lies in are made
// by the reader.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "supervisor/record/store/curve/step_bucket.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

class StepPyramid {
 public:
  static constexpr int levels = 8;
  // Of what is left of buckets whose rows were thinned out: each has its steps as they were then.
  static constexpr int thinned = -1;

  explicit StepPyramid(Connection& connection, const std::string& program)
      : db_(connection), program_(program) {}

  static constexpr std::int64_t steps_of(int level) { return std::int64_t{64} << (3 * level); }
  static constexpr std::int64_t bucket_of(std::int64_t step, int level = 0) {
    return step / steps_of(level);
  }

  // A row of this step was put.
  Status put(std::int64_t step) const;
  // Of all rows there are, at once. There are no buckets yet.
  Status build() const;

  // The buckets of a level from the one of `from` to that of `to` that have any rows, in order.
  using Visit = std::function<void(std::int64_t bucket, const StepBucket&)>;
  Status read(int level, std::int64_t from, std::int64_t to, const Visit& visit) const;
  // Of all steps.
  Result<StepBucket> whole() const;

  // Takes the rows of a bucket of 64 steps away and keeps what they came to. Not of the one that
  // the newest step lies in.
  Status thin(std::int64_t bucket) const;

 private:
  [[nodiscard]] Result<std::optional<std::int64_t>> open_step() const;
  Status set_open(std::int64_t step) const;
  Status write(int level, std::int64_t bucket, const StepBucket& made) const;
  // From what is stored below it.
  [[nodiscard]] Result<StepBucket> make(int level, std::int64_t bucket) const;
  // The bucket that the newest step lies in.
  [[nodiscard]] Result<StepBucket> make_open(int level, std::int64_t step) const;
  Status stored(int level, std::int64_t first, std::int64_t last, const Visit& visit) const;

  Connection& db_;
  const std::string& program_;
};

}  // namespace trainward::store
