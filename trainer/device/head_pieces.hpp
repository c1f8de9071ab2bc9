// What lies between the blocks and a head that takes a batch's positions in pieces
// (trainer/model/training/segments.hpp), as graphs. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Both for several pieces. (x [batch, positions, width]) -> (x [1, rows, width]…)
Result<graph::Graph> make_cut(const TrainingSpec& spec);
// (dx [1, rows, width]…, losses []…) -> (sum of the losses [], dx [batch, positions, width])
Result<graph::Graph> make_join(const TrainingSpec& spec);

}  // namespace trainward::trainer
