#include "trainer/graph/print.hpp"

#include <fmt/format.h>

namespace trainward::graph {
namespace {

std::string list(const std::vector<Value>& values) {
  std::string text;
  for (const Value value : values) {
    text += fmt::format("{}%{}", text.empty() ? "" : ", ", value.id);
  }
  return text;
}

}  // namespace

std::string print(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text += fmt::format("%{} = {}", i, name_of(node.op));
    if (!node.inputs.empty()) text += " " + list(node.inputs);
    const std::string attributes = attributes_of(node.op);
    if (!attributes.empty()) text += " " + attributes;
    if (node.held) text += " held";
    text += fmt::format(" : {}\n", to_string(node.type));
  }
  return text + "return " + list(graph.outputs) + "\n";
}

}  // namespace trainward::graph
