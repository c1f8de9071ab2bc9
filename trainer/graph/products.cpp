#include "trainer/graph/products.hpp"

#include <algorithm>
#include <map>

namespace trainward::graph {
namespace {

bool only_moves_elements(const Op& op) {
  return std::holds_alternative<op::Broadcast>(op) || std::holds_alternative<op::Reshape>(op) ||
         std::holds_alternative<op::Transpose>(op) || std::holds_alternative<op::Slice>(op);
}

// Copies a graph node by node, so that what is inserted comes before what reads it.
class Copy {
 public:
  explicit Copy(const Graph& graph) : in_(graph), moved_(graph.nodes.size()) {}

  // A node with its inputs replaced by the copy's.
  [[nodiscard]] Node taken(std::size_t i) const {
    Node node = in_.nodes[i];
    for (Value& input : node.inputs) input = moved_[input.index()];
    return node;
  }
  void put(std::size_t i, Node node) { moved_[i] = add(std::move(node)); }
  void put(std::size_t i, Value value) { moved_[i] = value; }

  // `value` of the copy in another element type; made once.
  Value converted(Value value, Element element) {
    const auto [known, is_new] = conversions_.try_emplace(value);
    if (!is_new) return known->second;
    Node node = out_.node(value);
    if (only_moves_elements(node.op) && !turns_a_product(node)) {
      node.inputs[0] = converted(node.inputs[0], element);
    } else {
      node = {op::Convert{element}, {value}, node.type};
    }
    node.type.element = element;
    return conversions_[value] = add(std::move(node));
  }

  Graph finish() {
    for (const Value parameter : in_.parameters) {
      out_.parameters.push_back(moved_[parameter.index()]);
    }
    for (const Value output : in_.outputs) out_.outputs.push_back(moved_[output.index()]);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool turns_a_product(const Node& node) const {
    return std::holds_alternative<op::Transpose>(node.op) &&
           std::holds_alternative<op::DotGeneral>(out_.node(node.inputs[0]).op);
  }
  Value add(Node node) {
    out_.nodes.push_back(std::move(node));
    return Value{static_cast<std::int32_t>(out_.nodes.size()) - 1};
  }

  const Graph& in_;
  Graph out_;
  std::vector<Value> moved_;
  std::map<Value, Value> conversions_;
};

// Gives the products of that precision operands of type `element`.
Graph with_operands(const Graph& graph, Element element) {
  Copy copy(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = copy.taken(i);
    auto* dot = std::get_if<op::DotGeneral>(&node.op);
    if (dot != nullptr && dot->precision == Precision::bf16) {
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (graph.type(graph.nodes[i].inputs[k]).element == element) continue;
        node.inputs[k] = copy.converted(node.inputs[k], element);
      }
      if (element == Element::f32) dot->precision = Precision::f32;
    }
    copy.put(i, std::move(node));
  }
  return copy.finish();
}

}  // namespace

Graph round_operands(const Graph& graph) { return with_operands(graph, Element::bf16); }

Graph widen_operands(const Graph& graph) { return with_operands(graph, Element::f32); }

Graph pack_parameters(const Graph& graph, const std::function<bool(std::size_t)>& may) {
  const op::Convert to_bf16{Element::bf16};
  std::vector<bool> read(graph.nodes.size(), false);
  std::vector<bool> read_whole(graph.nodes.size(), false);  // by more than a conversion
  for (const Node& node : graph.nodes) {
    const bool conversion = node.op == Op{to_bf16};
    for (const Value input : node.inputs) (conversion ? read : read_whole)[input.index()] = true;
  }
  for (const Value output : graph.outputs) read_whole[output.index()] = true;
  std::vector<bool> packed(graph.nodes.size(), false);
  for (std::size_t k = 0; k < graph.parameters.size(); ++k) {
    const std::size_t i = graph.parameters[k].index();
    packed[i] = read[i] && !read_whole[i] && may(k);
  }

  Copy copy(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = copy.taken(i);
    if (packed[i]) {
      node.type.element = std::get<op::Parameter>(node.op).type.element = Element::bf16;
    }
    const bool gone = !node.inputs.empty() && packed[graph.nodes[i].inputs[0].index()];
    if (gone) copy.put(i, node.inputs[0]);
    if (!gone) copy.put(i, std::move(node));
  }
  return copy.finish();
}

}  // namespace trainward::graph
