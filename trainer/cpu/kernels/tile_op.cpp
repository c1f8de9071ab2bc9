#include "trainer/cpu/kernels/tile_op.hpp"

#include <optional>

namespace trainward::cpu {
namespace {

namespace op = graph::op;
using graph::Element;

TileOp of_unary(graph::UnaryKind kind) {
  switch (kind) {
    case graph::UnaryKind::negate:
      return TileOp::negate;
    case graph::UnaryKind::exponential:
      return TileOp::exponential;
    case graph::UnaryKind::log:
      return TileOp::log;
    case graph::UnaryKind::sqrt:
      return TileOp::sqrt;
    case graph::UnaryKind::rsqrt:
      return TileOp::rsqrt;
    case graph::UnaryKind::tanh:
      return TileOp::tanh;
  }
  return TileOp::count;
}

std::optional<TileOp> of_binary(graph::BinaryKind kind, bool real) {
  switch (kind) {
    case graph::BinaryKind::add:
      return real ? TileOp::add : TileOp::add_i32;
    case graph::BinaryKind::subtract:
      return real ? TileOp::subtract : TileOp::subtract_i32;
    case graph::BinaryKind::multiply:
      return real ? TileOp::multiply : TileOp::multiply_i32;
    case graph::BinaryKind::divide:
      // No loop for integers: a zero divisor would end the process.
      return real ? std::optional(TileOp::divide) : std::nullopt;
    case graph::BinaryKind::maximum:
      return real ? TileOp::maximum : TileOp::maximum_i32;
    case graph::BinaryKind::bit_and:
      return TileOp::and_i32;
    case graph::BinaryKind::bit_or:
      return TileOp::or_i32;
    case graph::BinaryKind::bit_xor:
      return TileOp::xor_i32;
    case graph::BinaryKind::shift_right_logical:
      return TileOp::shift_right_i32;
  }
  return std::nullopt;
}

TileOp of_compare(graph::Direction direction, bool real) {
  switch (direction) {
    case graph::Direction::eq:
      return real ? TileOp::eq : TileOp::eq_i32;
    case graph::Direction::ne:
      return real ? TileOp::ne : TileOp::ne_i32;
    case graph::Direction::lt:
      return real ? TileOp::lt : TileOp::lt_i32;
    case graph::Direction::le:
      return real ? TileOp::le : TileOp::le_i32;
    case graph::Direction::gt:
      return real ? TileOp::gt : TileOp::gt_i32;
    case graph::Direction::ge:
      return real ? TileOp::ge : TileOp::ge_i32;
  }
  return TileOp::count;
}

std::optional<TileOp> of_convert(Element from, Element to) {
  if (from == to) return from == Element::bf16 ? TileOp::copy_bf16 : TileOp::copy;
  if (from == Element::f32 && to == Element::bf16) return TileOp::to_bf16;
  if (from == Element::bf16 && to == Element::f32) return TileOp::from_bf16;
  if (from == Element::bf16 || to == Element::bf16) return std::nullopt;
  if (to == Element::pred) {
    return from == Element::f32 ? TileOp::f32_to_pred : TileOp::i32_to_pred;
  }
  if (to == Element::f32) return TileOp::to_f32;
  return from == Element::f32 ? TileOp::to_i32 : TileOp::copy;  // a predicate is stored as 0 or 1
}

}  // namespace

Result<TileOp> tile_op(const graph::Graph& graph, const graph::Node& node) {
  const Element from = node.inputs.empty() ? Element::f32 : graph.type(node.inputs[0]).element;
  const bool real = from == Element::f32;
  std::optional<TileOp> found;
  if (const auto* unary = std::get_if<op::Unary>(&node.op)) {
    found = of_unary(unary->kind);
  } else if (const auto* binary = std::get_if<op::Binary>(&node.op)) {
    found = of_binary(binary->kind, real);
  } else if (const auto* compare = std::get_if<op::Compare>(&node.op)) {
    found = of_compare(compare->direction, real);
  } else if (std::holds_alternative<op::Select>(node.op)) {
    found = TileOp::select;
  } else if (const auto* convert = std::get_if<op::Convert>(&node.op)) {
    found = of_convert(from, convert->element);
  } else if (const auto* reduce = std::get_if<op::Reduce>(&node.op)) {
    const bool sum = reduce->kind == graph::ReduceKind::sum;
    const bool row = reduce->axes.back() + 1 ==
                     static_cast<std::int64_t>(graph.type(node.inputs[0]).shape.size());
    // Over all rows, the accumulator takes one row after another.
    if (row) found = sum ? TileOp::row_sum : TileOp::row_maximum;
    if (!row) found = sum ? TileOp::add : TileOp::maximum;
  }
  if (found) return *found;
  return fail(ErrorKind::usage, fmt::format("{}: the CPU executor has no loop for {}",
                                            graph::name_of(node.op), graph::to_string(from)));
}

}  // namespace trainward::cpu
