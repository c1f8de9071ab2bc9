// Graph to graph: what changes the size of a computation, never its result.
//
// Pure functions; the input is left alone. The order of outputs and, unless said, of parameters
// stays.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

// Folds constants (fold.hpp), merges nodes with the same operation, attributes, inputs and type,
// and drops what no output needs. Parameters stay, used or not.
Graph simplify(const Graph& graph);

// The part of `graph` that computes `outputs` from `inputs`: each input becomes a parameter,
// whatever computed it before, in the order given; everything else the outputs need is copied.
// Inputs named by the operation's own name when they are parameters, else "saved.<n>". Returns a
// graph without outputs when a parameter outside `inputs` would be needed.
Graph extract(const Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs);

// Which results of a forward pass a backward pass should keep: walks from `gradients` towards the
// parameters and stops at each value for which `keep` holds and that the forward
// pass computes (the first `forward_nodes` nodes). What lies between those and the gradients will
// be computed again.
std::vector<Value> values_to_keep(const Graph& graph, std::span<const Value> gradients,
                                  std::size_t forward_nodes,
                                  const std::function<bool(const Node&)>& keep);

}  // namespace trainward::graph
