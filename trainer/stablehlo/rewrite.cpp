#include "trainer/stablehlo/rewrite.hpp"

namespace trainward::stablehlo {

using graph::Value;

Value Rewrite::copy(std::size_t old) {
  const graph::Node& node = in_.nodes[old];
  std::vector<Value> inputs;
  inputs.reserve(node.inputs.size());
  for (const Value input : node.inputs) inputs.push_back(moved_[input.index()]);
  return moved_[old] = out_.append(node.op, std::move(inputs));
}

Value Rewrite::reshape(Value value, const graph::Shape& shape) {
  if (!value.valid()) return {};
  const graph::Node& node = out_.graph().node(value);
  if (std::holds_alternative<graph::op::Reshape>(node.op)) value = node.inputs[0];
  return out_.type(value).shape == shape ? value : out_.reshape(value, shape);
}

Result<graph::Graph> Rewrite::finish() const {
  std::vector<Value> outputs;
  outputs.reserve(in_.outputs.size());
  for (const Value output : in_.outputs) outputs.push_back(moved_[output.index()]);
  return out_.finish(outputs);
}

}  // namespace trainward::stablehlo
