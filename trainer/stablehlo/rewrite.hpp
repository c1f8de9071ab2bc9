// Makes one graph from another node by node: what the steps of lower() have in common.
//
// Parameters must be in the order of their nodes, as graph::simplify leaves them. The first error
// sticks, as it does in a Builder.
#pragma once

#include <vector>

#include "trainer/graph/builder.hpp"

namespace trainward::stablehlo {

class Rewrite {
 public:
  explicit Rewrite(const graph::Graph& in) : in_(in), moved_(in.nodes.size()) {}

  [[nodiscard]] const graph::Graph& in() const { return in_; }
  graph::Builder& out() { return out_; }

  // What stands for a value of the old graph in the new one.
  [[nodiscard]] graph::Value operator[](graph::Value old) const { return moved_[old.index()]; }
  void put(std::size_t old, graph::Value value) { moved_[old] = value; }
  // The old node, with what stands for its inputs.
  graph::Value copy(std::size_t old);

  // `value` in another shape of as many elements; reshapes of reshapes become one, or none.
  graph::Value reshape(graph::Value value, const graph::Shape& shape);

  // What stands for the old graph's outputs becomes the new one's.
  [[nodiscard]] Result<graph::Graph> finish() const;

 private:
  const graph::Graph& in_;
  graph::Builder out_;
  std::vector<graph::Value> moved_;
};

}  // namespace trainward::stablehlo
