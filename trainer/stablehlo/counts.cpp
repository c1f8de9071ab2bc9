#include "trainer/stablehlo/counts.hpp"

#include <algorithm>

#include "trainer/stablehlo/rewrite.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;

bool moves_elements(const graph::Op& op) {
  return std::holds_alternative<op::Broadcast>(op) || std::holds_alternative<op::Reshape>(op) ||
         std::holds_alternative<op::Transpose>(op) || std::holds_alternative<op::Slice>(op);
}

// Not further than a few steps, so that a chain of shifts is not walked again for each of them.
const graph::Node& origin(const graph::Graph& graph, graph::Value value) {
  const graph::Node* node = &graph.node(value);
  for (int step = 0; step < 8 && moves_elements(node->op); ++step) {
    node = &graph.node(node->inputs[0]);
  }
  return *node;
}

bool is_short_constant(const graph::Node& node) {
  const auto* constant = std::get_if<op::Constant>(&node.op);
  return constant != nullptr && constant->value >= 0 && constant->value < 32;
}

}  // namespace

bool is_short_count(const graph::Graph& graph, graph::Value value) {
  const graph::Node& node = origin(graph, value);
  if (node.op == graph::Op{op::Binary{graph::BinaryKind::bit_and}}) {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](graph::Value input) { return is_short_constant(origin(graph, input)); });
  }
  return is_short_constant(node);
}

Result<graph::Graph> mask_counts(const graph::Graph& graph) {
  Rewrite rewrite(graph);
  graph::Builder& b = rewrite.out();
  for (std::size_t i = 0; i < graph.nodes.size() && !b.error(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const bool shift = node.op == graph::Op{op::Binary{graph::BinaryKind::shift_right_logical}};
    if (shift && !is_short_count(graph, node.inputs[1])) {
      const graph::Value count = rewrite[node.inputs[1]];
      const graph::Value masked = b.bit_and(count, b.constant_like(31, count));
      rewrite.put(i, b.shift_right(rewrite[node.inputs[0]], masked));
    } else {
      rewrite.copy(i);
    }
  }
  return rewrite.finish();
}

}  // namespace trainward::stablehlo
