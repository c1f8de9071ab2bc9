#include "trainer/stablehlo/lower.hpp"

#include "trainer/graph/passes.hpp"
#include "trainer/stablehlo/align.hpp"
#include "trainer/stablehlo/counts.hpp"
#include "trainer/stablehlo/rewrite.hpp"
#include "trainer/stablehlo/tile_shapes.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Element;
using graph::Shape;
using graph::Value;

// A product that rounds its operands as it reads them; StableHLO's rounds none.
Status check_products(const graph::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const auto* dot = std::get_if<graph::op::DotGeneral>(&node.op);
    if (dot == nullptr || dot->precision == graph::Precision::f32) continue;
    if (graph.type(node.inputs[0]).element == graph::Element::bf16) continue;
    return fail(
        ErrorKind::usage,
        fmt::format("dot_general: rounds its operands; round_operands() says how (node %{})", i));
  }
  return {};
}

Value one_hot(graph::Builder& b, Value ids, std::int64_t rows) {
  const graph::Type type{Element::i32, {b.type(ids).shape[0], rows}};
  const Value hit =
      b.compare(graph::Direction::eq, b.broadcast(ids, {0}, type.shape), b.iota(type, 1));
  const graph::Type real{Element::f32, type.shape};
  return b.select(hit, b.constant(1, real), b.constant(0, real));
}

// Scattering by addition as a product: [ids, rows] ones where the row is the id's, times the
// updates. The rows are rounded up to a tile at once; an id beyond the real ones adds to what is
// cut off, or nowhere.
Result<graph::Graph> multiply_scatters(const graph::Graph& graph) {
  Rewrite rewrite(graph);
  graph::Builder& b = rewrite.out();
  for (std::size_t i = 0; i < graph.nodes.size() && !b.error(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const auto* scatter = std::get_if<graph::op::ScatterAddRows>(&node.op);
    if (scatter == nullptr) {
      rewrite.copy(i);
      continue;
    }
    const std::int64_t count = graph::element_count(graph.type(node.inputs[0]).shape);
    const std::int64_t width = node.type.shape[1];
    const Value ids = rewrite.reshape(rewrite[node.inputs[0]], {count});
    const Value updates = rewrite.reshape(rewrite[node.inputs[1]], {count, width});
    const Value hot = one_hot(b, ids, rounded_up(scatter->rows));
    const Value sums =
        b.append(graph::op::DotGeneral{{}, {}, {0}, {0}, graph::Precision::f32}, {hot, updates});
    rewrite.put(i, b.slice(sums, {0, 0}, {scatter->rows, width}));
  }
  return rewrite.finish();
}

// Nothing of rank 0 enters, leaves, is reduced to, or is summed over devices: [1] instead, with
// reshapes inside, where scalars may stay.
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

Result<graph::Graph> raise_ranks(const graph::Graph& graph) { return Raise(graph).run(); }

// Appends an axis of one element, and says which one it is.
std::int64_t append_axis(Shape& shape) {
  shape.push_back(1);
  return static_cast<std::int64_t>(shape.size()) - 1;
}

bool has_free_axis(const Shape& shape, const Axes& batch, const Axes& contract) {
  return shape.size() > batch.size() + contract.size();
}

// Every product gets an axis in each of its three groups (contracted, free in the left operand,
// free in the right one), of one element where it had none: what can then be padded to a tile.
Result<graph::Graph> complete_groups(const graph::Graph& graph) {
  Rewrite rewrite(graph);
  graph::Builder& b = rewrite.out();
  for (std::size_t i = 0; i < graph.nodes.size() && !b.error(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (!std::holds_alternative<graph::op::DotGeneral>(node.op)) {
      rewrite.copy(i);
      continue;
    }
    auto dot = std::get<graph::op::DotGeneral>(node.op);
    Shape lhs = graph.type(node.inputs[0]).shape;
    Shape rhs = graph.type(node.inputs[1]).shape;
    if (dot.lhs_contract.empty()) {
      dot.lhs_contract = {append_axis(lhs)};
      dot.rhs_contract = {append_axis(rhs)};
    }
    if (!has_free_axis(lhs, dot.lhs_batch, dot.lhs_contract)) append_axis(lhs);
    if (!has_free_axis(rhs, dot.rhs_batch, dot.rhs_contract)) append_axis(rhs);
    const Value product = b.append(dot, {rewrite.reshape(rewrite[node.inputs[0]], lhs),
                                         rewrite.reshape(rewrite[node.inputs[1]], rhs)});
    rewrite.put(i, rewrite.reshape(product, node.type.shape));
  }
  return rewrite.finish();
}

}  // namespace

Result<graph::Graph> lower(const graph::Graph& graph, Target target) {
  if (auto ok = check_products(graph); !ok) return propagate(ok);
  graph::Graph lowered = graph::simplify(graph);
  using Step = Result<graph::Graph> (*)(const graph::Graph&);
  const std::vector<Step> steps =
      target == Target::tiles
          ? std::vector<Step>{multiply_scatters, raise_ranks, mask_counts, complete_groups, align}
          : std::vector<Step>{raise_ranks, mask_counts};
  for (const Step step : steps) {
    Result<graph::Graph> next = step(lowered);
    if (!next) return next;
    lowered = graph::simplify(*next);
  }
  return lowered;
}

}  // namespace trainward::stablehlo
