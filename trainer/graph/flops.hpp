// How much arithmetic an operation is. Pure.
#pragma once

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

// Of a product two for each multiplication with its addition, of everything else 0. A real number,
// because those of a large step are more than an integer holds.
double flops_of(const Graph& graph, const Node& node);

}  // namespace trainward::graph
