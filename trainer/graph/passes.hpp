// Graph to graph: what changes the size of a computation, never its result.
//
// Pure functions; the input is left alone. The order of outputs and, unless said, of parameters
// stays.
#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

// Folds constants (fold()), merges nodes with the same operation, attributes, inputs and type,
// and drops what no output needs. Parameters stay, used or not.
Graph simplify(const Graph& graph);

// Sums of padded values that lie side by side along one axis, as the gradients of slices do, become
// one concatenation, padded where something is left over.
Graph join_pads(const Graph& graph);

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

struct Unchanged {};

// Another value of the graph is the same as the node; or the node is this operation of no inputs.
using Folded = std::variant<Unchanged, Value, op::Constant>;

// What a node comes to when some of its inputs are constants, or when it changes nothing.
//
// Constants are one value repeated, so they fold through every operation that keeps that true. A
// value computed here is rounded to its type as the operation would round it; exponentials,
// logarithms and tanh come out correctly rounded, which the executors' own need not be. Left alone:
// x * 0 (x may be infinite) and integer division. x + 0 is taken as x, although -0 + 0 is +0.
//
// `node`'s inputs are values of `graph`; the node itself need not be in it.
Folded fold(const Graph& graph, const Node& node);

}  // namespace trainward::graph
