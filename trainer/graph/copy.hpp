// A graph copied node by node, so that what is inserted comes before what reads it.
//
// In: a graph that outlives the copy. Out: another one, with the parameters and outputs of the
// first where it has put them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

class Copy {
 public:
  explicit Copy(const Graph& graph) : in_(graph), moved_(graph.nodes.size()) {}

  // A node of the graph with its inputs replaced by the copy's.
  [[nodiscard]] Node taken(std::size_t i) const {
    Node node = in_.nodes[i];
    for (Value& input : node.inputs) input = moved_[input.index()];
    return node;
  }
  // What the graph's node is in the copy.
  void put(std::size_t i, Node node) { moved_[i] = add(std::move(node)); }
  void put(std::size_t i, Value value) { moved_[i] = value; }

  // One that the graph has not.
  Value add(Node node) {
    out_.nodes.push_back(std::move(node));
    return Value{static_cast<std::int32_t>(out_.nodes.size()) - 1};
  }
  // As far as it is made.
  [[nodiscard]] const Graph& made() const { return out_; }

  Graph finish() {
    for (const Value parameter : in_.parameters) {
      out_.parameters.push_back(moved_[parameter.index()]);
    }
    for (const Value output : in_.outputs) out_.outputs.push_back(moved_[output.index()]);
    return std::move(out_);
  }

 private:
  const Graph& in_;
  Graph out_;
  std::vector<Value> moved_;
};

}  // namespace trainward::graph
