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
  const auto from = static_cast<std::size_t>(block_);
  const auto to = static_cast<std::size_t>(width);
  for (std::size_t row = 0; row * from < batch.ids.size(); ++row) {
    const auto ids = batch.ids.subspan(row * from, to);
    const auto weights = batch.weights.subspan(row * from, to);
    std::copy(ids.begin(), ids.end(), cut_.begin() + static_cast<std::ptrdiff_t>(row * to));
    for (std::size_t i = 0; i < to; ++i) {
      const bool last = i + 1 == to;
      targets_[row * to + i] = last ? 0 : ids[i + 1];
      weights_[row * to + i] = last ? 0 : weights[i + 1];
    }
  }
  if (width < block_) ids_ = cut_.data();
}

}  // namespace trainward::trainer
