#include "trainer/stablehlo/padding_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "trainer/stablehlo/tile_shapes.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Shape;
using graph::Value;

// How far a value's making is looked at, and what computing zeros may cost.
constexpr int most_steps = 8;
constexpr std::int64_t most_growth = 2;

bool keeps_zeros(const Op& op) {
  const auto* unary = std::get_if<op::Unary>(&op);
  return unary != nullptr &&
         (unary->kind == graph::UnaryKind::negate || unary->kind == graph::UnaryKind::sqrt ||
          unary->kind == graph::UnaryKind::tanh);
}

class Planner {
 public:
  explicit Planner(const Graph& graph) : graph_(graph), is_output_(graph.nodes.size(), false) {
    for (const Value output : graph.outputs) is_output_[output.index()] = true;
    for (const Node& node : graph.nodes) {
      plan_.computed.push_back(node.type.shape);
      auto& reads = plan_.reads.emplace_back();
      for (const Value input : node.inputs) reads.push_back(graph.type(input).shape);
    }
  }

  PaddingPlan run() {
    // Here `computed` is what is asked of a value, until it is the value's turn.
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      auto inputs = inputs_for(node, plan_.computed[i], is_output_[i]);
      if (!inputs) inputs = inputs_for(node, node.type.shape, is_output_[i]);
      plan_.reads[i] = std::move(inputs->reads);
      plan_.computed[i] = std::move(inputs->result);
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (is_constant(node.inputs[k])) continue;
        Shape& asked = plan_.computed[node.inputs[k].index()];
        asked = larger(asked, plan_.reads[i][k]);
      }
    }
    return std::move(plan_);
  }

 private:
  struct Inputs {
    std::vector<Shape> reads;
    Shape result;  // what comes of them: what was asked, or more
  };

  [[nodiscard]] const Shape& shape(Value value) const { return graph_.type(value).shape; }
  [[nodiscard]] bool is_constant(Value value) const {
    return std::holds_alternative<op::Constant>(graph_.node(value).op);
  }
  [[nodiscard]] static std::int64_t count(const Shape& shape) {
    return graph::element_count(shape);
  }

  // How a node computes itself in `asked`; nothing when it would rather be padded. Its own shape it
  // always can.
  [[nodiscard]] std::optional<Inputs> inputs_for(const Node& node, const Shape& asked,
                                                 bool is_output) const {
    if (const auto* dot = std::get_if<op::DotGeneral>(&node.op)) {
      return of_dot(*dot, node, asked, is_output, most_steps);
    }
    const auto* reduce = std::get_if<op::Reduce>(&node.op);
    if (asked != node.type.shape) {
      auto reads = pass_on(node, asked, is_output, most_steps, false);
      if (!reads) return std::nullopt;
      return Inputs{*std::move(reads), asked};
    }
    Inputs own{{}, node.type.shape};
    for (const Value input : node.inputs) own.reads.push_back(shape(input));
    if (reduce != nullptr && reduce->kind == graph::ReduceKind::sum) {
      own.reads[0] = reducible(own.reads[0], reduce->axes);
    }
    return own;
  }

  // A product fills tiles whatever is asked; more only where its operands are had for little.
  [[nodiscard]] std::optional<Inputs> of_dot(const op::DotGeneral& dot, const Node& node,
                                             const Shape& asked, bool is_output, int steps) const {
    const DotShapes own = tiled(dot, {shape(node.inputs[0]), shape(node.inputs[1])});
    const auto axes = result_axes(dot, own.lhs.size(), own.rhs.size());
    const auto result_of = [&](const DotShapes& operands) {
      Shape result;
      for (const DotAxis& axis : axes) {
        result.push_back(axis.lhs ? operands.lhs[*axis.lhs] : operands.rhs[*axis.rhs]);
      }
      return result;
    };
    Shape result = result_of(own);
    if (covers(result, asked)) return Inputs{{own.lhs, own.rhs}, std::move(result)};
    if (is_output || steps == 0) return std::nullopt;
    DotShapes more = own;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].lhs) more.lhs[*axes[i].lhs] = std::max(more.lhs[*axes[i].lhs], asked[i]);
      if (axes[i].rhs) more.rhs[*axes[i].rhs] = std::max(more.rhs[*axes[i].rhs], asked[i]);
    }
    more = tiled(dot, std::move(more));
    Shape larger_result = result_of(more);
    if (count(larger_result) > most_growth * count(result)) return std::nullopt;
    const auto is_cheap = [&](Value input, const Shape& before, const Shape& after) {
      return before == after || 2 * count(shape(input)) <= count(node.type.shape) ||
             is_free(input, after, steps - 1);
    };
    if (!is_cheap(node.inputs[0], own.lhs, more.lhs)) return std::nullopt;
    if (!is_cheap(node.inputs[1], own.rhs, more.rhs)) return std::nullopt;
    return Inputs{{more.lhs, more.rhs}, std::move(larger_result)};
  }

  // Whether the value can be computed in that shape without padding anything large.
  [[nodiscard]] bool is_free(Value value, const Shape& asked, int steps) const {
    if (asked == shape(value)) return true;
    if (steps == 0) return false;
    const Node& node = graph_.node(value);
    const bool is_output = is_output_[value.index()];
    if (const auto* dot = std::get_if<op::DotGeneral>(&node.op)) {
      return of_dot(*dot, node, asked, is_output, steps).has_value();
    }
    return pass_on(node, asked, is_output, steps, true).has_value();
  }

  // In which shapes a node that is no product must read its inputs to come out as asked. `free`:
  // and those cost nothing; else what only moves elements always passes on what is asked, so that
  // users of the same values share one padded form.
  [[nodiscard]] std::optional<std::vector<Shape>> pass_on(const Node& node, const Shape& asked,
                                                          bool is_output, int steps,
                                                          bool free) const {
    if (const auto* constant = std::get_if<op::Constant>(&node.op)) {
      if (constant->value == 0) return std::vector<Shape>{};
      return std::nullopt;
    }
    if (is_output) return std::nullopt;
    const auto checked = [&](std::optional<Shape> read,
                             bool always) -> std::optional<std::vector<Shape>> {
      if (!read || !(always || is_free(node.inputs[0], *read, steps - 1))) return std::nullopt;
      return std::vector<Shape>{*std::move(read)};
    };
    if (const auto* transpose = std::get_if<op::Transpose>(&node.op)) {
      Shape read(asked.size());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        read[static_cast<std::size_t>(transpose->permutation[i])] = asked[i];
      }
      return checked(std::move(read), !free);
    }
    if (std::holds_alternative<op::Reshape>(node.op)) {
      return checked(before_reshape(shape(node.inputs[0]), node.type.shape, asked), !free);
    }
    if (std::holds_alternative<op::Convert>(node.op)) return checked(asked, !free);
    if (keeps_zeros(node.op)) return checked(asked, false);
    if (std::holds_alternative<op::Pad>(node.op)) return std::vector<Shape>{shape(node.inputs[0])};
    if (const auto* broadcast = std::get_if<op::Broadcast>(&node.op)) {
      return checked(before_broadcast(*broadcast, node, asked),
                     4 * count(shape(node.inputs[0])) <= count(node.type.shape));
    }
    if (const auto* binary = std::get_if<op::Binary>(&node.op)) {
      return of_binary(binary->kind, node, asked, steps);
    }
    return std::nullopt;
  }

  // Only axes that the operand has can be padded with zeros.
  [[nodiscard]] std::optional<Shape> before_broadcast(const op::Broadcast& broadcast,
                                                      const Node& node, const Shape& asked) const {
    Shape rest = node.type.shape;
    Shape read = shape(node.inputs[0]);
    for (std::size_t i = 0; i < read.size(); ++i) {
      const auto axis = static_cast<std::size_t>(broadcast.axes[i]);
      read[i] = rest[axis] = asked[axis];
    }
    if (rest != asked) return std::nullopt;
    return read;
  }

  [[nodiscard]] std::optional<std::vector<Shape>> of_binary(graph::BinaryKind kind,
                                                            const Node& node, const Shape& asked,
                                                            int steps) const {
    // A factor that is one number repeated is so in any shape.
    const auto is_factor = [&](Value value, bool divisor) {
      const auto* constant = std::get_if<op::Constant>(&graph_.node(value).op);
      return constant != nullptr && std::isfinite(constant->value) &&
             !(divisor && constant->value == 0);
    };
    const Value a = node.inputs[0];
    const Value b = node.inputs[1];
    const bool a_is_zero = is_free(a, asked, steps - 1);
    const bool b_is_zero = is_free(b, asked, steps - 1);
    bool zero = false;
    switch (kind) {
      case graph::BinaryKind::multiply:
        zero = (a_is_zero || is_factor(a, false)) && (b_is_zero || is_factor(b, false));
        break;
      case graph::BinaryKind::divide:
        zero = a_is_zero && is_factor(b, true) && node.type.element == graph::Element::f32;
        break;
      case graph::BinaryKind::add:
      case graph::BinaryKind::subtract:
      case graph::BinaryKind::maximum:
        zero = a_is_zero && b_is_zero;
        break;
      case graph::BinaryKind::bit_and:
      case graph::BinaryKind::bit_or:
      case graph::BinaryKind::bit_xor:
      case graph::BinaryKind::shift_right_logical:
        break;
    }
    if (!zero) return std::nullopt;
    return std::vector<Shape>{asked, asked};
  }

  const Graph& graph_;
  std::vector<bool> is_output_;
  PaddingPlan plan_;
};

}  // namespace

Shape reducible(Shape shape, const Axes& axes) {
  for (const std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    if (at + 2 >= shape.size()) shape[at] = rounded_up(shape[at]);
  }
  return shape;
}

PaddingPlan plan_padding(const Graph& graph) { return Planner(graph).run(); }

}  // namespace trainward::stablehlo
