// Graph to graph: where the operands of products are rounded to bf16, and where they are widened.
//
// Pure functions; results, parameters and outputs keep their order, and results their values. Made
// after differentiation: a conversion's gradient is of the type converted from.
#pragma once

#include <functional>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

// Every product that rounds its operands gets them rounded, as bf16. A value is converted once,
// whatever products read it, and before transpositions, slices, reshapes and broadcasts of it; but
// after the transposition of a product, whose result can be stored in any order.
Graph round_operands(const Graph& graph);

// Every product of bf16 operands gets them as f32: the same values, for machines that multiply no
// bf16.
Graph widen_operands(const Graph& graph);

// Parameters that are only ever converted to bf16 become bf16 parameters, as their types then say:
// among those for which `may` holds, by position.
Graph pack_parameters(const Graph& graph, const std::function<bool(std::size_t)>& may);

}  // namespace trainward::graph
