#include "trainer/graph/differentiate.hpp"

#include "trainer/graph/gradient_rules.hpp"

namespace trainward::graph {
namespace {

// Which nodes, up to now, depend on one of `wrt` through something that can be differentiated.
std::vector<bool> active_nodes(const Graph& graph, std::span<const Value> wrt) {
  std::vector<bool> active(graph.nodes.size(), false);
  for (const Value value : wrt) active[value.index()] = true;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.held || node.type.element == Element::pred || node.type.element == Element::i32) {
      active[i] = false;
      continue;
    }
    for (const Value input : node.inputs) {
      if (active[input.index()]) active[i] = true;
    }
  }
  return active;
}

}  // namespace

std::vector<Value> differentiate(Builder& builder, std::span<const Value> outputs,
                                 std::span<const Value> cotangents, std::span<const Value> wrt) {
  std::vector<Value> gradients(wrt.size());
  if (builder.error()) return gradients;
  if (outputs.size() != cotangents.size()) {
    builder.set_error({ErrorKind::usage, "differentiate: needs one cotangent per output", {}, {}});
    return gradients;
  }
  const std::vector<bool> active = active_nodes(builder.graph(), wrt);
  std::vector<Value> cotangent_of(active.size());
  const auto accumulate = [&](Value target, Value contribution) {
    Value& slot = cotangent_of[target.index()];
    slot = slot.valid() ? builder.add(slot, contribution) : contribution;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (active[outputs[i].index()]) accumulate(outputs[i], cotangents[i]);
  }
  for (std::size_t i = active.size(); i-- > 0;) {
    const Value cotangent = cotangent_of[i];
    if (!active[i] || !cotangent.valid()) continue;
    // A copy: appending nodes moves the builder's storage.
    const Node node = builder.graph().nodes[i];
    const Value value{static_cast<std::int32_t>(i)};
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!active[node.inputs[k].index()]) continue;
      const Value contribution = gradient_of_input(builder, node, value, k, cotangent);
      if (builder.error()) return gradients;
      if (contribution.valid()) accumulate(node.inputs[k], contribution);
    }
  }
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const Value gradient = cotangent_of[wrt[i].index()];
    gradients[i] = gradient.valid() ? gradient : builder.constant_like(0, wrt[i]);
  }
  return gradients;
}

std::vector<Value> differentiate(Builder& builder, Value loss, std::span<const Value> wrt) {
  if (!builder.error() && builder.type(loss) != Type{}) {
    builder.set_error({ErrorKind::usage,
                       fmt::format("differentiate: the loss must be f32[], not {}",
                                   to_string(builder.type(loss))),
                       {},
                       {}});
  }
  const Value one = builder.constant(1, Type{});
  return differentiate(builder, std::span(&loss, 1), std::span(&one, 1), wrt);
}

}  // namespace trainward::graph
