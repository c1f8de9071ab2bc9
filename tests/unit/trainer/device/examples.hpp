// Made-up examples with answers, for the tests of device models.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "device/on_simulator.hpp"

namespace trainward::trainer::test {

// What a data set of examples would give: some predictions count, each as much as any other of the
// step, and rows hold texts of any length.
class Examples {
 public:
  Examples(const TrainingSpec& spec, std::int64_t sequences, std::uint64_t seed)
      : spec_(spec), draw_(seed) {
    const auto block = static_cast<std::size_t>(spec.block_size);
    ids_.resize(static_cast<std::size_t>(sequences) * block);
    for (std::int32_t& id : ids_) id = static_cast<std::int32_t>(below(spec.model.vocabulary));
    if (spec.weighted) weights_.resize(ids_.size());
    if (spec.segmented) segments_.resize(ids_.size());
    float targets = 0;
    for (float& weight : weights_) targets += weight = below(3) > 0 ? 1.0F : 0.0F;
    for (float& weight : weights_) weight /= std::max(1.0F, targets);
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const bool begins = i % block == 0;
      segments_[i] = begins ? 0 : segments_[i - 1] + (below(4) == 0 ? 1 : 0);
    }
  }
  [[nodiscard]] TokenBatch batch() const { return {ids_, weights_, segments_}; }

 private:
  std::int64_t below(std::int64_t end) { return draw_.size(0, end - 1); }
  const TrainingSpec& spec_;
  graph::test::Draw draw_;
  std::vector<std::int32_t> ids_;
  std::vector<float> weights_;
  std::vector<std::int32_t> segments_;
};

inline Course course_of(Trainable& model, const TrainingSpec& spec, std::uint64_t steps = 4) {
  const Examples held_out(spec, spec.batch_size, 99);
  std::optional<Examples> of_step;
  const auto batch_of = [&](std::uint64_t step) {
    return of_step.emplace(spec, spec.sequences_per_step(), step).batch();
  };
  return train_course(model, steps, batch_of, held_out.batch());
}

}  // namespace trainward::trainer::test
