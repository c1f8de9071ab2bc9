#include "trainer/graph/op.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/cases.hpp"

namespace trainward::graph {
namespace {

std::string_view name_of_unary(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::negate:
      return "negate";
    case UnaryKind::exponential:
      return "exponential";
    case UnaryKind::log:
      return "log";
    case UnaryKind::sqrt:
      return "sqrt";
    case UnaryKind::rsqrt:
      return "rsqrt";
    case UnaryKind::tanh:
      return "tanh";
  }
  return "?";
}

std::string_view name_of_binary(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return "add";
    case BinaryKind::subtract:
      return "subtract";
    case BinaryKind::multiply:
      return "multiply";
    case BinaryKind::divide:
      return "divide";
    case BinaryKind::maximum:
      return "maximum";
    case BinaryKind::bit_and:
      return "and";
    case BinaryKind::bit_or:
      return "or";
    case BinaryKind::bit_xor:
      return "xor";
    case BinaryKind::shift_right_logical:
      return "shift_right_logical";
  }
  return "?";
}

std::string_view name_of_direction(Direction direction) {
  switch (direction) {
    case Direction::eq:
      return "EQ";
    case Direction::ne:
      return "NE";
    case Direction::lt:
      return "LT";
    case Direction::le:
      return "LE";
    case Direction::gt:
      return "GT";
    case Direction::ge:
      return "GE";
  }
  return "?";
}

}  // namespace

std::string_view name_of(const Op& op) {
  using View = std::string_view;
  return std::visit(Cases{[](const op::Parameter&) { return View("parameter"); },
                          [](const op::Constant&) { return View("constant"); },
                          [](const op::Iota&) { return View("iota"); },
                          [](const op::Unary& unary) { return name_of_unary(unary.kind); },
                          [](const op::Binary& binary) { return name_of_binary(binary.kind); },
                          [](const op::Compare&) { return View("compare"); },
                          [](const op::Select&) { return View("select"); },
                          [](const op::Convert&) { return View("convert"); },
                          [](const op::Reduce&) { return View("reduce"); },
                          [](const op::Broadcast&) { return View("broadcast_in_dim"); },
                          [](const op::Reshape&) { return View("reshape"); },
                          [](const op::Transpose&) { return View("transpose"); },
                          [](const op::Slice&) { return View("slice"); },
                          [](const op::Pad&) { return View("pad"); },
                          [](const op::Concatenate&) { return View("concatenate"); },
                          [](const op::DotGeneral&) { return View("dot_general"); },
                          [](const op::GatherRows&) { return View("gather"); },
                          [](const op::ScatterAddRows&) { return View("scatter"); },
                          [](const op::AllReduce&) { return View("all_reduce"); },
                          [](const op::Attention&) { return View("attention"); },
                          [](const op::AttentionGradient&) { return View("attention_gradient"); }},
                    op);
}

std::string attributes_of(const Op& op) {
  using Text = std::string;
  return std::visit(
      Cases{
          [](const op::Parameter& p) { return Text("name=") + p.name; },
          // Hexadecimal, so that constants that differ in the last bit stay apart.
          [](const op::Constant& c) { return fmt::format("value={} bits={:a}", c.value, c.value); },
          [](const op::Iota& i) { return fmt::format("axis={}", i.axis); },
          [](const op::Unary&) { return Text(); }, [](const op::Binary&) { return Text(); },
          [](const op::Compare& c) {
            return fmt::format("direction={}", name_of_direction(c.direction));
          },
          [](const op::Select&) { return Text(); },
          [](const op::Convert& c) { return fmt::format("to={}", to_string(c.element)); },
          [](const op::Reduce& r) {
            return fmt::format("kind={} axes={}", r.kind == ReduceKind::sum ? "sum" : "maximum",
                               to_string(r.axes));
          },
          [](const op::Broadcast& b) { return fmt::format("axes={}", to_string(b.axes)); },
          [](const op::Reshape&) { return Text(); },
          [](const op::Transpose& t) {
            return fmt::format("permutation={}", to_string(t.permutation));
          },
          [](const op::Slice& s) {
            return fmt::format("start={} limit={}", to_string(s.start), to_string(s.limit));
          },
          [](const op::Pad& p) {
            return fmt::format("low={} high={}", to_string(p.low), to_string(p.high));
          },
          [](const op::Concatenate& c) { return fmt::format("axis={}", c.axis); },
          [](const op::DotGeneral& d) {
            return fmt::format("batch={}x{} contract={}x{}{}", to_string(d.lhs_batch),
                               to_string(d.rhs_batch), to_string(d.lhs_contract),
                               to_string(d.rhs_contract),
                               d.precision == Precision::bf16 ? " algorithm=bf16_bf16_f32" : "");
          },
          [](const op::GatherRows&) { return Text(); },
          [](const op::ScatterAddRows& s) { return fmt::format("rows={}", s.rows); },
          [](const op::AllReduce& a) {
            const std::string stride = a.stride == 1 ? "" : fmt::format(" stride={}", a.stride);
            return fmt::format("devices={}{}", a.devices, stride);
          },
          [](const op::Attention& a) {
            return fmt::format("scale={:a} result={}", a.scale,
                               a.result == AttentionResult::output ? "output" : "statistics");
          },
          [](const op::AttentionGradient& a) {
            return fmt::format("scale={:a} input={}", a.scale, a.input);
          }},
      op);
}

std::vector<std::vector<std::int64_t>> groups_of(const op::AllReduce& sum, std::int64_t all) {
  std::vector<std::vector<std::int64_t>> groups;
  for (std::int64_t first = 0; first < all; ++first) {
    if (first / sum.stride % sum.devices != 0) continue;
    std::vector<std::int64_t>& group = groups.emplace_back();
    for (std::int64_t i = 0; i < sum.devices && first + i * sum.stride < all; ++i) {
      group.push_back(first + i * sum.stride);
    }
  }
  return groups;
}

Axes other_axes(std::size_t rank, const Axes& first, const Axes& second) {
  const auto has = [](const Axes& axes, std::int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Axes rest;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (!has(first, axis) && !has(second, axis)) rest.push_back(axis);
  }
  return rest;
}

}  // namespace trainward::graph
