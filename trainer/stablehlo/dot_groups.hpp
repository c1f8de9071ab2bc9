// Every product gets an axis in each of its three groups (contracted, free in the left operand,
// free in the right one), of one element where it had none: what can then be padded to a tile.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

Result<graph::Graph> complete_groups(const graph::Graph& graph);

}  // namespace trainward::stablehlo
