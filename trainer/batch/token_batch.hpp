// The tokens of a step, of one of its batches or of a rank's part, as a model takes them.
//
// Borrowed, row-major [sequences, block]. Alone, `ids` say that position i predicts position i + 1
// everywhere and that the loss is the mean. With `weights` the loss is the sum of each prediction's
// loss times its weight: the caller has divided the weights by the number of targets in the whole
// step, however it is cut into batches and ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainward::trainer {

struct TokenBatch {
  std::span<const std::int32_t> ids;
  // Of the prediction OF the token at this place; the first of each row counts for nothing,
  // whatever it says. As many as ids, or empty.
  std::span<const float> weights = {};
  // Which text of its row a token belongs to: tokens see only those of their own. As many as ids,
  // or empty, where each row is one text.
  std::span<const std::int32_t> segments = {};

  TokenBatch() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a batch may be nothing but ids
  TokenBatch(std::span<const std::int32_t> all_ids) : ids(all_ids) {}
  // NOLINTNEXTLINE(google-explicit-constructor): the same
  TokenBatch(const std::vector<std::int32_t>& all_ids) : ids(all_ids) {}
  TokenBatch(std::span<const std::int32_t> all_ids, std::span<const float> all_weights,
             std::span<const std::int32_t> all_segments)
      : ids(all_ids), weights(all_weights), segments(all_segments) {}

  // Elements from `first` on, `count` of them, of everything that is there.
  [[nodiscard]] TokenBatch part(std::size_t first, std::size_t count) const;
};

// What each of the first `width` positions of a batch's rows, which are `block` long, predicts, and
// how much that counts: the last of them predicts nothing. `targets` and `weights` have room for
// so many of every row.
void set_predictions(const TokenBatch& batch, std::int64_t block, std::int64_t width,
                     std::span<std::int32_t> targets, std::span<float> weights);

}  // namespace trainward::trainer
