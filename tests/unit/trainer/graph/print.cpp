#include "graph/print.hpp"

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

std::string print(const Node& node, Value value) {
  std::string text = fmt::format("%{} = {}", value.id, name_of(node.op));
  if (!node.inputs.empty()) text += " " + list(node.inputs);
  const std::string attributes = attributes_of(node.op);
  if (!attributes.empty()) text += " " + attributes;
  if (node.held) text += " held";
  return text + " : " + to_string(node.type);
}

std::string print_outputs(const std::vector<Value>& outputs) { return "return " + list(outputs); }

std::string print(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    text += print(graph.nodes[i], Value{static_cast<std::int32_t>(i)}) + "\n";
  }
  return text + print_outputs(graph.outputs) + "\n";
}

}  // namespace trainward::graph
