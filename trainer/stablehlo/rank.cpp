#include "trainer/stablehlo/rank.hpp"

#include "trainer/stablehlo/rewrite.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Value;

class Raise {
 public:
  explicit Raise(const graph::Graph& graph) : rewrite_(graph), b_(rewrite_.out()) {}

  Result<graph::Graph> run() {
    const auto& nodes = rewrite_.in().nodes;
    for (std::size_t i = 0; i < nodes.size() && !b_.error(); ++i) {
      const Value special = nodes[i].type.shape.empty() ? raised(nodes[i]) : Value{};
      if (special.valid()) {
        rewrite_.put(i, rewrite_.reshape(special, {}));
      } else if (!b_.error()) {
        rewrite_.copy(i);
      }
    }
    if (b_.error()) return rewrite_.finish();
    for (const Value output : rewrite_.in().outputs) {
      if (b_.type(rewrite_[output]).shape.empty()) {
        rewrite_.put(output.index(), rewrite_.reshape(rewrite_[output], {1}));
      }
    }
    return rewrite_.finish();
  }

 private:
  // The node with a result of shape [1]; invalid for one that may stay a scalar.
  Value raised(const graph::Node& node) {
    if (const auto* parameter = std::get_if<op::Parameter>(&node.op)) {
      return b_.parameter(parameter->name, {node.type.element, {1}});
    }
    if (std::holds_alternative<op::AllReduce>(node.op)) {
      return b_.append(node.op, {rewrite_.reshape(rewrite_[node.inputs[0]], {1})});
    }
    if (const auto* reduce = std::get_if<op::Reduce>(&node.op)) {
      const Value input = rewrite_[node.inputs[0]];
      const std::int64_t count = graph::element_count(b_.type(input).shape);
      return b_.append(op::Reduce{reduce->kind, {1}}, {rewrite_.reshape(input, {1, count})});
    }
    return {};
  }

  Rewrite rewrite_;
  graph::Builder& b_;
};

}  // namespace

Result<graph::Graph> raise_ranks(const graph::Graph& graph) { return Raise(graph).run(); }

}  // namespace trainward::stablehlo
