#include "trainer/graph/passes.hpp"

#include <fmt/ranges.h>

#include <map>
#include <string>

namespace trainward::graph {
namespace {

std::vector<bool> needed_nodes(const Graph& graph, std::span<const Value> outputs) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const Value output : outputs) needed[output.index()] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const Value input : graph.nodes[i].inputs) needed[input.index()] = true;
  }
  return needed;
}

Graph without_unneeded(const Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph, graph.outputs);
  Graph result;
  std::vector<Value> moved(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool parameter = std::holds_alternative<op::Parameter>(graph.nodes[i].op);
    if (!needed[i] && !parameter) continue;
    Node node = graph.nodes[i];
    for (Value& input : node.inputs) input = moved[input.index()];
    moved[i] = Value{static_cast<std::int32_t>(result.nodes.size())};
    if (parameter) result.parameters.push_back(moved[i]);
    result.nodes.push_back(std::move(node));
  }
  for (const Value output : graph.outputs) result.outputs.push_back(moved[output.index()]);
  return result;
}

std::string key_of(const Node& node) {
  std::string key = fmt::format("{} {} {} {}", name_of(node.op), attributes_of(node.op),
                                to_string(node.type), node.held);
  for (const Value input : node.inputs) key += fmt::format(" %{}", input.id);
  return key;
}

}  // namespace

Graph simplify(const Graph& graph) {
  Graph result;
  std::vector<Value> moved(graph.nodes.size());
  std::map<std::string, Value> known;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = graph.nodes[i];
    for (Value& input : node.inputs) input = moved[input.index()];
    const Value next{static_cast<std::int32_t>(result.nodes.size())};
    if (std::holds_alternative<op::Parameter>(node.op)) {
      result.parameters.push_back(next);
      moved[i] = next;
    } else {
      const Folded folded = fold(result, node);
      if (const auto* same = std::get_if<Value>(&folded)) {
        moved[i] = *same;
        continue;
      }
      if (const auto* constant = std::get_if<op::Constant>(&folded)) {
        node = Node{*constant, {}, node.type};
      }
      moved[i] = known.try_emplace(key_of(node), next).first->second;
      if (moved[i] != next) continue;
    }
    result.nodes.push_back(std::move(node));
  }
  for (const Value output : graph.outputs) result.outputs.push_back(moved[output.index()]);
  return without_unneeded(result);
}

Graph extract(const Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs) {
  Graph result;
  std::vector<Value> moved(graph.nodes.size());
  const auto add = [&](Node node) {
    const Value value{static_cast<std::int32_t>(result.nodes.size())};
    result.nodes.push_back(std::move(node));
    return value;
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Node& node = graph.node(inputs[k]);
    const auto* parameter = std::get_if<op::Parameter>(&node.op);
    const std::string name = parameter != nullptr ? parameter->name : fmt::format("saved.{}", k);
    moved[inputs[k].index()] = add(Node{op::Parameter{name, node.type}, {}, node.type});
    result.parameters.push_back(moved[inputs[k].index()]);
  }
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const Value output : outputs) needed[output.index()] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i] || moved[i].valid()) continue;
    if (std::holds_alternative<op::Parameter>(graph.nodes[i].op)) return {};
    for (const Value input : graph.nodes[i].inputs) needed[input.index()] = true;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i] || moved[i].valid()) continue;
    Node node = graph.nodes[i];
    for (Value& input : node.inputs) input = moved[input.index()];
    moved[i] = add(std::move(node));
  }
  for (const Value output : outputs) result.outputs.push_back(moved[output.index()]);
  return result;
}

std::vector<Value> values_to_keep(const Graph& graph, std::span<const Value> gradients,
                                  std::size_t forward_nodes,
                                  const std::function<bool(const Node&)>& keep) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const Value gradient : gradients) needed[gradient.index()] = true;
  std::vector<Value> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Node& node = graph.nodes[i];
    if (i < forward_nodes && !std::holds_alternative<op::Parameter>(node.op) && keep(node)) {
      kept.push_back(Value{static_cast<std::int32_t>(i)});
      continue;
    }
    for (const Value input : node.inputs) needed[input.index()] = true;
  }
  return {kept.rbegin(), kept.rend()};
}

}  // namespace trainward::graph
