#include "trainer/model/cpu/batch_inputs.hpp"

#include <algorithm>
#include <cstddef>

namespace trainward::trainer {

std::int64_t width_needed(const TokenBatch& batch, std::int64_t block) {
  const auto wide = static_cast<std::size_t>(block);
  std::size_t most = 0;
  for (std::size_t row = 0; row < batch.weights.size(); row += wide) {
    // A row's first token is predicted by nothing.
    for (std::size_t i = wide; i-- > most + 1;) {
      if (batch.weights[row + i] == 0) continue;
      most = i;
      break;
    }
  }
  return static_cast<std::int64_t>(most) + 1;
}

BatchInputs::BatchInputs(const TrainingSpec& spec)
    : block_(spec.block_size), weighted_(spec.weighted) {
  if (!weighted_) return;
  targets_.resize(static_cast<std::size_t>(spec.batch_size * spec.block_size));
  weights_.resize(targets_.size());
  cut_.resize(targets_.size());
}

void BatchInputs::take(const TokenBatch& batch, std::int64_t width) {
  ids_ = batch.ids.data();
  segments_ = batch.segments.data();
  if (!weighted_) return;
  set_predictions(batch, block_, width, targets_, weights_);
  if (width == block_) return;
  auto next = cut_.begin();
  for (std::size_t row = 0; row < batch.ids.size(); row += static_cast<std::size_t>(block_)) {
    const auto ids = batch.ids.subspan(row, static_cast<std::size_t>(width));
    next = std::copy(ids.begin(), ids.end(), next);
  }
  ids_ = cut_.data();
}

}  // namespace trainward::trainer
