#include "trainer/stablehlo/dot_groups.hpp"

#include "trainer/stablehlo/rewrite.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Axes;
using graph::Shape;
using graph::Value;

// Appends an axis of one element, and says which one it is.
std::int64_t append_axis(Shape& shape) {
  shape.push_back(1);
  return static_cast<std::int64_t>(shape.size()) - 1;
}

bool has_free_axis(const Shape& shape, const Axes& batch, const Axes& contract) {
  return shape.size() > batch.size() + contract.size();
}

}  // namespace

Result<graph::Graph> complete_groups(const graph::Graph& graph) {
  Rewrite rewrite(graph);
  graph::Builder& b = rewrite.out();
  for (std::size_t i = 0; i < graph.nodes.size() && !b.error(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (!std::holds_alternative<graph::op::DotGeneral>(node.op)) {
      rewrite.copy(i);
      continue;
    }
    auto dot = std::get<graph::op::DotGeneral>(node.op);
    Shape lhs = graph.type(node.inputs[0]).shape;
    Shape rhs = graph.type(node.inputs[1]).shape;
    if (dot.lhs_contract.empty()) {
      dot.lhs_contract = {append_axis(lhs)};
      dot.rhs_contract = {append_axis(rhs)};
    }
    if (!has_free_axis(lhs, dot.lhs_batch, dot.lhs_contract)) append_axis(lhs);
    if (!has_free_axis(rhs, dot.rhs_batch, dot.rhs_contract)) append_axis(rhs);
    const Value product = b.append(dot, {rewrite.reshape(rewrite[node.inputs[0]], lhs),
                                         rewrite.reshape(rewrite[node.inputs[1]], rhs)});
    rewrite.put(i, rewrite.reshape(product, node.type.shape));
  }
  return rewrite.finish();
}

}  // namespace trainward::stablehlo
