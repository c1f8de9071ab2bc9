// Whether the copies of the parameters that devices or ranks hold are still the same bits.
//
// All of them start alike and make the same update from the same sums, so one that differs was
// changed by its hardware: a bit turned over in its memory or on its way (silent corruption; Llama
// 3 met six in 54 days, Google tells of one every week or two). Compared every so many steps and
// before each save, so that every checkpoint holds what all of them agreed on. With a majority the
// ones outside it are named. Without one, as for two copies, the comparison is kept in the
// checkpoints' folder, and the attempt that repeats its steps on the same devices names the one
// that it contradicts: if the bit turned over in the last of the steps, since the sums of gradients
// carry an older difference into all copies.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// A comparison that nobody could judge.
struct Dispute {
  std::int64_t step = 0;
  std::int64_t since = 0;          // the step at which all agreed
  std::vector<std::string> names;  // of the copies
  std::vector<std::uint64_t> checksums;

  friend bool operator==(const Dispute&, const Dispute&) = default;
};

// Which of them are not what more than half of them are; nothing: no such majority. With columns,
// the copies are those whose places are equal modulo their number; nothing: some have no majority.
std::optional<std::vector<std::size_t>> outside_majority(
    const std::vector<std::uint64_t>& checksums, std::size_t columns = 1);

class Replicas {
 public:
  struct Options {
    std::filesystem::path root;      // of the checkpoints
    std::vector<std::string> names;  // of the copies, as people know them
    std::int64_t every = 0;          // steps; 0: so that it takes a thousandth of the time
    std::int64_t step = 0;           // that the attempt begins with
    std::size_t columns = 1;         // of the copies, each of other parameters
  };
  // All outlive it.
  Replicas(Options options, Trainable& model, Reporter& reporter);

  // After each step. Error (transient): they differ; the model is of no use.
  Status after_step(std::int64_t step, std::chrono::nanoseconds took);
  // After a step whose loss was no number, which a flipped bit may be the cause of: the error if
  // so. What can no longer be read is no difference.
  Status after_lost_step(std::int64_t steps_done);
  // Before step `step` is saved; the same.
  Status before_save(std::int64_t step);

  // The newest step at which all were alike.
  [[nodiscard]] std::int64_t agreed() const { return agreed_; }

 private:
  [[nodiscard]] bool due(std::int64_t step) const;
  Status compare(std::int64_t step);
  Status differ(std::int64_t step, const std::vector<std::uint64_t>& checksums);
  void settle_dispute(const std::vector<std::uint64_t>& checksums);
  [[nodiscard]] std::string names_of(const std::vector<std::size_t>& which) const;

  Options options_;
  Trainable& model_;
  Reporter& reporter_;
  std::optional<Dispute> dispute_;  // of an earlier attempt
  std::int64_t agreed_;             // the newest step at which all were alike
  std::int64_t next_;               // when it is to be looked at again
  double step_ns_ = 0;              // a step takes on average
};

}  // namespace trainward::trainer
