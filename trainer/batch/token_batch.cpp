#include "trainer/batch/token_batch.hpp"

namespace trainward::trainer {

TokenBatch TokenBatch::part(std::size_t first, std::size_t count) const {
  const auto of = [&](auto all) { return all.empty() ? all : all.subspan(first, count); };
  return {of(ids), of(weights), of(segments)};
}

void set_predictions(const TokenBatch& batch, std::int64_t block, std::int64_t width,
                     std::span<std::int32_t> targets, std::span<float> weights) {
  const auto from = static_cast<std::size_t>(block);
  const auto to = static_cast<std::size_t>(width);
  for (std::size_t row = 0; row * from < batch.ids.size(); ++row) {
    for (std::size_t i = 0; i < to; ++i) {
      const bool last = i + 1 == to;
      const std::size_t next = row * from + i + 1;
      targets[row * to + i] = last ? 0 : batch.ids[next];
      weights[row * to + i] = last ? 0 : batch.weights[next];
    }
  }
}

}  // namespace trainward::trainer
