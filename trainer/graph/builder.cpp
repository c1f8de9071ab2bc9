#include "trainer/graph/builder.hpp"

#include "trainer/graph/infer.hpp"

namespace trainward::graph {

Value Builder::append(Op op, std::vector<Value> inputs) {
  if (error_) return {};
  std::vector<Type> types;
  types.reserve(inputs.size());
  for (const Value input : inputs) {
    if (!input.valid() || input.index() >= graph_.nodes.size()) {
      error_ = Error{
          ErrorKind::usage, fmt::format("{}: an operand is not a value", name_of(op)), {}, {}};
      return {};
    }
    types.push_back(graph_.type(input));
  }
  Result<Type> type = infer(op, types);
  if (!type) {
    error_ = std::move(type).error();
    return {};
  }
  const Value value{static_cast<std::int32_t>(graph_.nodes.size())};
  if (std::holds_alternative<op::Parameter>(op)) graph_.parameters.push_back(value);
  graph_.nodes.push_back(Node{std::move(op), std::move(inputs), *std::move(type)});
  return value;
}

Value Builder::parameter(std::string name, Type type) {
  return append(op::Parameter{std::move(name), std::move(type)}, {});
}
Value Builder::constant(double value, const Type& type) {
  return append(op::Constant{value, type}, {});
}
Value Builder::constant_like(double value, Value like) { return constant(value, type(like)); }
Value Builder::iota(const Type& type, std::int64_t axis) {
  return append(op::Iota{axis, type}, {});
}

Value Builder::neg(Value a) { return append(op::Unary{UnaryKind::negate}, {a}); }
Value Builder::exp(Value a) { return append(op::Unary{UnaryKind::exponential}, {a}); }
Value Builder::log(Value a) { return append(op::Unary{UnaryKind::log}, {a}); }
Value Builder::sqrt(Value a) { return append(op::Unary{UnaryKind::sqrt}, {a}); }
Value Builder::rsqrt(Value a) { return append(op::Unary{UnaryKind::rsqrt}, {a}); }
Value Builder::tanh(Value a) { return append(op::Unary{UnaryKind::tanh}, {a}); }
Value Builder::add(Value a, Value b) { return append(op::Binary{BinaryKind::add}, {a, b}); }
Value Builder::sub(Value a, Value b) { return append(op::Binary{BinaryKind::subtract}, {a, b}); }
Value Builder::mul(Value a, Value b) { return append(op::Binary{BinaryKind::multiply}, {a, b}); }
Value Builder::div(Value a, Value b) { return append(op::Binary{BinaryKind::divide}, {a, b}); }
Value Builder::max(Value a, Value b) { return append(op::Binary{BinaryKind::maximum}, {a, b}); }
Value Builder::bit_and(Value a, Value b) { return append(op::Binary{BinaryKind::bit_and}, {a, b}); }
Value Builder::bit_or(Value a, Value b) { return append(op::Binary{BinaryKind::bit_or}, {a, b}); }
Value Builder::bit_xor(Value a, Value b) { return append(op::Binary{BinaryKind::bit_xor}, {a, b}); }
Value Builder::shift_right(Value a, Value count) {
  return append(op::Binary{BinaryKind::shift_right_logical}, {a, count});
}
Value Builder::scale(Value a, double factor) { return mul(a, constant_like(factor, a)); }
Value Builder::compare(Direction direction, Value a, Value b) {
  return append(op::Compare{direction}, {a, b});
}
Value Builder::select(Value predicate, Value on_true, Value on_false) {
  return append(op::Select{}, {predicate, on_true, on_false});
}
Value Builder::convert(Value a, Element element) { return append(op::Convert{element}, {a}); }

Value Builder::sum(Value a, Axes axes) {
  return append(op::Reduce{ReduceKind::sum, std::move(axes)}, {a});
}
Value Builder::maximum(Value a, Axes axes) {
  return append(op::Reduce{ReduceKind::maximum, std::move(axes)}, {a});
}
Value Builder::broadcast(Value a, Axes axes, Shape shape) {
  return append(op::Broadcast{std::move(axes), std::move(shape)}, {a});
}
Value Builder::reshape(Value a, Shape shape) { return append(op::Reshape{std::move(shape)}, {a}); }
Value Builder::transpose(Value a, Axes permutation) {
  return append(op::Transpose{std::move(permutation)}, {a});
}
Value Builder::slice(Value a, Axes start, Axes limit) {
  return append(op::Slice{std::move(start), std::move(limit)}, {a});
}
Value Builder::pad(Value a, Axes low, Axes high) {
  return append(op::Pad{std::move(low), std::move(high)}, {a});
}
Value Builder::concatenate(std::vector<Value> parts, std::int64_t axis) {
  return append(op::Concatenate{axis}, std::move(parts));
}
Value Builder::dot(Value lhs, Value rhs, op::DotGeneral dimensions) {
  dimensions.precision = products_;
  return append(std::move(dimensions), {lhs, rhs});
}
Value Builder::gather_rows(Value table, Value ids) {
  return append(op::GatherRows{}, {table, ids});
}
Value Builder::scatter_add_rows(Value ids, Value updates, std::int64_t rows) {
  return append(op::ScatterAddRows{rows}, {ids, updates});
}
Value Builder::all_reduce(Value a, op::AllReduce over) { return append(over, {a}); }
Value Builder::sum_columns(Value a) { return columns_ == 1 ? a : all_reduce(a, {columns_}); }

Value Builder::hold(Value a) {
  if (error_ || !a.valid()) return {};
  graph_.nodes[a.index()].held = true;
  return a;
}

const Type& Builder::type(Value value) const {
  return value.valid() ? graph_.type(value) : scalar_;
}

void Builder::set_error(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<Graph> Builder::finish(std::span<const Value> outputs) const {
  if (error_) return tl::unexpected<Error>(*error_);
  for (const Value output : outputs) {
    if (!output.valid() || output.index() >= graph_.nodes.size())
      return fail(ErrorKind::usage, "an output of the graph is not a value");
  }
  Graph graph = graph_;
  graph.outputs.assign(outputs.begin(), outputs.end());
  return graph;
}

}  // namespace trainward::graph
