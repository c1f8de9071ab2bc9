// What attention drops in each layer of each step: a function of the seed, the step, the layer and
// the place of a sequence in the whole step, however that is cut into batches, ranks or devices, so
// that a run that is resumed or cut otherwise drops the same.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/training_random.hpp"

namespace trainward::trainer {

// What the block's graph takes: two words of key, and the position of its first element or token.
using DropoutKey = std::array<std::int32_t, 3>;

class DropoutKeys {
 public:
  // `spec`: of one rank or device.
  explicit DropoutKeys(const TrainingSpec& spec);

  [[nodiscard]] bool used() const { return !keys_.empty(); }
  // The keys of the step after `steps_done`.
  void draw(std::int64_t steps_done);
  // Of batch `batch` of that step, on this rank or device.
  void place(std::int64_t rank, std::int64_t batch);
  [[nodiscard]] const DropoutKey& of(std::size_t layer) const { return keys_[layer]; }

 private:
  RandomStream stream_;
  std::vector<DropoutKey> keys_;  // per layer; empty when nothing is dropped
  std::int64_t batches_;          // of one rank in a step
  std::int64_t elements_;         // of one batch, or its tokens (Architecture::drops_by_token)
};

}  // namespace trainward::trainer
