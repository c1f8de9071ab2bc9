// What lies between the blocks and a head that takes a batch's positions in pieces
// (trainer/model/training/segments.hpp), as graphs. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/error.hpp"
#include "trainer/batch/token_batch.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// How many there are; 1: the batch is not cut.
std::int64_t head_pieces(const TrainingSpec& spec);

// Both for several pieces. (x [batch, positions, width]) -> (x [1, rows, width]…)
Result<graph::Graph> make_cut(const TrainingSpec& spec);
// (dx [1, rows, width]…, losses []…) -> (sum of the losses [], dx [batch, positions, width])
Result<graph::Graph> make_join(const TrainingSpec& spec);

// What each position of a batch predicts, and how much that counts: the last of a row predicts
// nothing. `targets` and `weights` have room for as many as there are ids.
void set_predictions(const TokenBatch& batch, std::int64_t block_size,
                     std::span<std::int32_t> targets, std::span<float> weights);

}  // namespace trainward::trainer
