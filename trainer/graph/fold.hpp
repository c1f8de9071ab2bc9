// What a node comes to when some of its inputs are constants, or when it changes nothing.
//
// Constants are one value repeated, so they fold through every operation that keeps that true. A
// value computed here is rounded to its type as the operation would round it; exponentials,
// logarithms and tanh come out correctly rounded, which the executors' own need not be. Left alone:
// x * 0 (x may be infinite) and integer division. x + 0 is taken as x, although -0 + 0 is +0.
#pragma once

#include <variant>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

struct Unchanged {};

// Another value of the graph is the same as the node; or the node is this operation of no inputs.
using Folded = std::variant<Unchanged, Value, op::Constant>;

// `node`'s inputs are values of `graph`; the node itself need not be in it.
Folded fold(const Graph& graph, const Node& node);

}  // namespace trainward::graph
