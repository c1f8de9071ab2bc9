#include "trainer/graph/flops.hpp"

namespace trainward::graph {

double flops_of(const Graph& graph, const Node& node) {
  const auto* dot = std::get_if<op::DotGeneral>(&node.op);
  if (dot == nullptr) return 0;
  const Shape& lhs = graph.type(node.inputs[0]).shape;
  auto flops = 2 * static_cast<double>(element_count(node.type.shape));
  for (const std::int64_t axis : dot->lhs_contract) {
    flops *= static_cast<double>(lhs[static_cast<std::size_t>(axis)]);
  }
  return flops;
}

}  // namespace trainward::graph
