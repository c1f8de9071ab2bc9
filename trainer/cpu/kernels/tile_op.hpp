// Which inner loop computes a graph operation.
#pragma once

#include "common/base/error.hpp"
#include "trainer/cpu/kernels/tile_kernels.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::cpu {

// Errors (usage): an operation or element type without a loop, named.
Result<TileOp> tile_op(const graph::Graph& graph, const graph::Node& node);

}  // namespace trainward::cpu
