#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/bf16.hpp"
#include "trainer/graph/passes.hpp"

namespace trainward::graph {
namespace {

std::int32_t wrapped(double value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
}

// Double precision is more than twice that of f32, so one operation rounded to double and then to
// f32 is rounded once. What becomes bf16 is an f32 before, here as everywhere.
double rounded(double value, Element element) {
  const auto single = static_cast<float>(value);
  if (element == Element::f32) return static_cast<double>(single);
  if (element == Element::bf16)
    return static_cast<double>(float_from_bf16(bf16_from_float(single)));
  return value;
}

double of_unary(UnaryKind kind, double x) {
  switch (kind) {
    case UnaryKind::negate:
      return -x;
    case UnaryKind::exponential:
      return std::exp(x);
    case UnaryKind::log:
      return std::log(x);
    case UnaryKind::sqrt:
      return std::sqrt(x);
    case UnaryKind::rsqrt:
      return 1 / std::sqrt(x);
    case UnaryKind::tanh:
      return std::tanh(x);
  }
  return x;
}

std::optional<double> of_reals(BinaryKind kind, double a, double b) {
  switch (kind) {
    case BinaryKind::add:
      return a + b;
    case BinaryKind::subtract:
      return a - b;
    case BinaryKind::multiply:
      return a * b;
    case BinaryKind::divide:
      return a / b;
    case BinaryKind::maximum:
      return a > b || std::isnan(a) ? a : b;
    case BinaryKind::bit_and:
    case BinaryKind::bit_or:
    case BinaryKind::bit_xor:
    case BinaryKind::shift_right_logical:
      break;
  }
  return std::nullopt;
}

std::optional<double> of_integers(BinaryKind kind, std::int32_t x, std::int32_t y) {
  const auto a = static_cast<std::uint32_t>(x);
  const auto b = static_cast<std::uint32_t>(y);
  const auto number = [](std::uint32_t bits) {
    return static_cast<double>(static_cast<std::int32_t>(bits));
  };
  switch (kind) {
    case BinaryKind::add:
      return number(a + b);
    case BinaryKind::subtract:
      return number(a - b);
    case BinaryKind::multiply:
      return number(a * b);
    case BinaryKind::divide:
      return std::nullopt;
    case BinaryKind::maximum:
      return std::max(x, y);
    case BinaryKind::bit_and:
      return number(a & b);
    case BinaryKind::bit_or:
      return number(a | b);
    case BinaryKind::bit_xor:
      return number(a ^ b);
    case BinaryKind::shift_right_logical:
      return number(a >> (b & 31U));
  }
  return std::nullopt;
}

bool of_comparison(Direction direction, double a, double b) {
  switch (direction) {
    case Direction::eq:
      return a == b;
    case Direction::ne:
      return a != b;
    case Direction::lt:
      return a < b;
    case Direction::le:
      return a <= b;
    case Direction::gt:
      return a > b;
    case Direction::ge:
      return a >= b;
  }
  return false;
}

double of_conversion(double value, Element to) {
  switch (to) {
    case Element::f32:
    case Element::bf16:
      return rounded(value, to);
    case Element::i32:  // saturating; NaN becomes 0
      return std::isnan(value) ? 0 : std::clamp(std::trunc(value), -2147483648.0, 2147483647.0);
    case Element::pred:
      return value != 0 ? 1 : 0;
  }
  return value;
}

// Whether axis i goes to axis i and the shape stays.
bool changes_nothing(const Axes& axes, const Shape& from, const Shape& to) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  }
  return from == to;
}

bool all_zero(const Axes& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n == 0; });
}

class Folder {
 public:
  Folder(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Folded operator()(const op::Parameter&) const { return {}; }
  Folded operator()(const op::Constant&) const { return {}; }
  Folded operator()(const op::Iota&) const { return {}; }

  Folded operator()(const op::Unary& unary) const {
    if (const auto x = constant(0)) return make(of_unary(unary.kind, *x));
    const auto* inner = std::get_if<op::Unary>(&graph_.node(node_.inputs[0]).op);
    if (inner != nullptr && *inner == op::Unary{UnaryKind::negate} && *inner == unary) {
      return graph_.node(node_.inputs[0]).inputs[0];
    }
    return {};
  }

  Folded operator()(const op::Binary& binary) const {
    const auto a = constant(0);
    const auto b = constant(1);
    const BinaryKind kind = binary.kind;
    if (a && b) {
      const auto value = node_.type.element == Element::i32
                             ? of_integers(kind, wrapped(*a), wrapped(*b))
                             : of_reals(kind, *a, *b);
      if (value) return make(*value);
    }
    const bool sum = kind == BinaryKind::add;
    const bool product = kind == BinaryKind::multiply;
    if (a && ((sum && *a == 0) || (product && *a == 1))) return node_.inputs[1];
    if (b && ((sum && *b == 0) || (product && *b == 1))) return node_.inputs[0];
    if (b &&
        ((kind == BinaryKind::subtract && *b == 0) || (kind == BinaryKind::divide && *b == 1))) {
      return node_.inputs[0];
    }
    return {};
  }

  Folded operator()(const op::Compare& compare) const {
    const auto a = constant(0);
    const auto b = constant(1);
    if (!a || !b) return {};
    return make(of_comparison(compare.direction, *a, *b) ? 1 : 0);
  }
  Folded operator()(const op::Select&) const {
    if (node_.inputs[1] == node_.inputs[2]) return node_.inputs[1];
    const auto which = constant(0);
    if (!which) return {};
    return node_.inputs[*which != 0 ? 1 : 2];
  }
  Folded operator()(const op::Convert& convert) const {
    if (graph_.type(node_.inputs[0]).element == convert.element) return node_.inputs[0];
    if (const auto value = constant(0)) return make(of_conversion(*value, convert.element));
    return {};
  }

  Folded operator()(const op::Reduce& reduce) const {
    if (reduce.axes.empty()) return node_.inputs[0];
    const auto value = constant(0);
    if (!value) return {};
    if (reduce.kind == ReduceKind::maximum) return make(*value);
    // How many elements make one of the result.
    const std::int64_t summed =
        element_count(graph_.type(node_.inputs[0]).shape) / element_count(node_.type.shape);
    return make(*value * static_cast<double>(summed));
  }
  Folded operator()(const op::Broadcast& broadcast) const {
    return moved(changes_nothing(broadcast.axes, from(), node_.type.shape));
  }
  Folded operator()(const op::Reshape&) const { return moved(from() == node_.type.shape); }
  Folded operator()(const op::Transpose& transpose) const {
    return moved(changes_nothing(transpose.permutation, from(), node_.type.shape));
  }
  Folded operator()(const op::Slice&) const { return moved(from() == node_.type.shape); }
  Folded operator()(const op::Pad& pad) const {
    if (all_zero(pad.low) && all_zero(pad.high)) return node_.inputs[0];
    if (constant(0) == 0.0) return make(0);
    return {};
  }
  Folded operator()(const op::Concatenate&) const {
    if (node_.inputs.size() == 1) return node_.inputs[0];
    return {};
  }
  Folded operator()(const op::DotGeneral&) const { return {}; }
  Folded operator()(const op::GatherRows&) const {
    if (const auto value = constant(0)) return make(*value);
    return {};
  }
  Folded operator()(const op::ScatterAddRows&) const { return {}; }
  Folded operator()(const op::AllReduce&) const { return {}; }
  Folded operator()(const op::Attention&) const { return {}; }
  Folded operator()(const op::AttentionGradient&) const { return {}; }

 private:
  [[nodiscard]] std::optional<double> constant(std::size_t input) const {
    const auto* found = std::get_if<op::Constant>(&graph_.node(node_.inputs[input]).op);
    if (found == nullptr) return std::nullopt;
    return rounded(found->value, found->type.element);
  }
  [[nodiscard]] const Shape& from() const { return graph_.type(node_.inputs[0]).shape; }
  [[nodiscard]] op::Constant make(double value) const {
    return {rounded(value, node_.type.element), node_.type};
  }
  // An operation that only moves elements about.
  [[nodiscard]] Folded moved(bool changes_nothing) const {
    if (changes_nothing) return node_.inputs[0];
    if (const auto value = constant(0)) return make(*value);
    return {};
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

Folded fold(const Graph& graph, const Node& node) {
  return std::visit(Folder(graph, node), node.op);
}

}  // namespace trainward::graph
