// A batch as the programs of one width take it.
//
// Rows of examples end in padding, which weighs nothing. Where all rows of a batch do, the batch is
// as good in rows that are only so wide (programs.hpp has programs for a few widths):
// width_needed() says how wide, take() cuts. Memory is taken once. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/batch/token_batch.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Up to the last token that is predicted, in the longest row; of weighted batches.
std::int64_t width_needed(const TokenBatch& batch, std::int64_t block);

class BatchInputs {
 public:
  explicit BatchInputs(const TrainingSpec& spec);

  // The first `width` tokens of each row. Borrows what need not be cut.
  void take(const TokenBatch& batch, std::int64_t width);

  [[nodiscard]] const std::int32_t* ids() const { return ids_; }
  [[nodiscard]] const std::int32_t* segments() const { return segments_; }
  // What each position predicts, and how much that counts; of weighted batches.
  [[nodiscard]] const std::int32_t* targets() const { return targets_.data(); }
  [[nodiscard]] const float* weights() const { return weights_.data(); }

 private:
  std::int64_t block_;
  bool weighted_;
  const std::int32_t* ids_ = nullptr;
  const std::int32_t* segments_ = nullptr;
  std::vector<std::int32_t> cut_;
  std::vector<std::int32_t> targets_;
  std::vector<float> weights_;
};

}  // namespace trainward::trainer
