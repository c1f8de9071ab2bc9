#include "trainer/graph/products.hpp"

#include <algorithm>
#include <map>

#include "trainer/graph/copy.hpp"

namespace trainward::graph {
namespace {

bool only_moves_elements(const Op& op) {
  return std::holds_alternative<op::Broadcast>(op) || std::holds_alternative<op::Reshape>(op) ||
         std::holds_alternative<op::Transpose>(op) || std::holds_alternative<op::Slice>(op);
}

// A copy whose values can be had in another element type; each conversion is made once.
class ConvertingCopy : public Copy {
 public:
  using Copy::Copy;

  Value converted(Value value, Element element) {
    const auto [known, is_new] = conversions_.try_emplace(value);
    if (!is_new) return known->second;
    Node node = made().node(value);
    if (only_moves_elements(node.op) && !turns_a_product(node)) {
      node.inputs[0] = converted(node.inputs[0], element);
    } else {
      node = {op::Convert{element}, {value}, node.type};
    }
    node.type.element = element;
    return conversions_[value] = add(std::move(node));
  }

 private:
  [[nodiscard]] bool turns_a_product(const Node& node) const {
    return std::holds_alternative<op::Transpose>(node.op) &&
           std::holds_alternative<op::DotGeneral>(made().node(node.inputs[0]).op);
  }

  std::map<Value, Value> conversions_;
};

// Gives the products of that precision operands of type `element`.
Graph with_operands(const Graph& graph, Element element) {
  ConvertingCopy copy(graph);
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
