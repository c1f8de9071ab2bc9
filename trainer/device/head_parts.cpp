#include "trainer/device/head_parts.hpp"

#include "trainer/graph/passes.hpp"

namespace trainward::trainer {

using graph::Graph;
using graph::Node;
using graph::Value;

HeadParts split_head(const Graph& head, Keeping keeping) {
  const std::vector<Value> first(head.outputs.begin(), head.outputs.begin() + 2);
  const std::vector<Value> gradients(head.outputs.begin() + 2, head.outputs.end());
  std::vector<bool> in_first(head.nodes.size());
  for (const Value value : first) in_first[value.index()] = true;
  for (std::size_t i = head.nodes.size(); i-- > 0;) {
    if (!in_first[i]) continue;
    for (const Value input : head.nodes[i].inputs) in_first[input.index()] = true;
  }
  // Products and sums are kept; what lies between is computed again.
  const auto keep = [&](const Node& node) {
    const auto index = static_cast<std::size_t>(&node - head.nodes.data());
    return keeping == Keeping::products && in_first[index] &&
           (std::holds_alternative<graph::op::DotGeneral>(node.op) ||
            std::holds_alternative<graph::op::Reduce>(node.op));
  };
  const std::vector<Value> kept = graph::values_to_keep(head, gradients, head.nodes.size(), keep);
  std::vector<Value> outputs = first;
  outputs.insert(outputs.end(), kept.begin(), kept.end());
  std::vector<Value> inputs = head.parameters;
  HeadParts parts;
  parts.input = graph::extract(head, inputs, outputs);
  inputs.insert(inputs.end(), kept.begin(), kept.end());
  parts.parameters = graph::extract(head, inputs, gradients);
  return parts;
}

}  // namespace trainward::trainer
