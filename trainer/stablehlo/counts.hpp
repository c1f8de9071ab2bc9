// Shift counts: the graph takes them modulo 32; with 32 and more StableHLO shifts everything out.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

// Whether every element is known to lie in [0, 32): a constant or masked by one, moved about or
// not.
bool is_short_count(const graph::Graph& graph, graph::Value value);

// The same graph with counts for which that is so.
Result<graph::Graph> mask_counts(const graph::Graph& graph);

}  // namespace trainward::stablehlo
