#include "trainer/model/layers.hpp"

#include <numeric>

namespace trainward::trainer {

using graph::Axes;
using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Shape;
using graph::Value;

namespace {

std::int64_t last_axis(const Shape& shape) { return static_cast<std::int64_t>(shape.size()) - 1; }

Value mean_of_last(Builder& b, Value x) {
  const Shape shape = b.type(x).shape;
  return b.scale(b.sum(x, {last_axis(shape)}), 1.0 / static_cast<double>(shape.back()));
}

Value spread(Builder& b, Value per_row, const Shape& shape) {
  return b.broadcast(per_row, leading_axes(shape), shape);
}

}  // namespace

Axes leading_axes(const Shape& shape) {
  Axes axes(shape.empty() ? 0 : shape.size() - 1);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return axes;
}

Value linear(Builder& b, Value x, Value weight) {
  return b.dot(x, weight, {{}, {}, {last_axis(b.type(x).shape)}, {1}});
}

Value add_bias(Builder& b, Value x, Value bias) {
  const Shape shape = b.type(x).shape;
  return b.add(x, b.broadcast(bias, {last_axis(shape)}, shape));
}

Value layer_norm(Builder& b, Value x, Value weight, Value bias) {
  const Shape shape = b.type(x).shape;
  const Value centred = b.sub(x, spread(b, mean_of_last(b, x), shape));
  const Value variance = mean_of_last(b, b.mul(centred, centred));
  const Value inverse = b.rsqrt(b.add(variance, b.constant_like(1e-5, variance)));
  const Value normal = b.mul(centred, spread(b, inverse, shape));
  return add_bias(b, b.mul(normal, b.broadcast(weight, {last_axis(shape)}, shape)), bias);
}

Value softmax(Builder& b, Value x) {
  const Shape shape = b.type(x).shape;
  // The result does not depend on what is subtracted, so no gradient need pass through it.
  const Value largest = b.hold(b.maximum(x, {last_axis(shape)}));
  const Value powers = b.exp(b.sub(x, spread(b, largest, shape)));
  const Value total = b.sum(powers, {last_axis(shape)});
  return b.mul(powers, spread(b, b.div(b.constant_like(1, total), total), shape));
}

Value relu(Builder& b, Value x) { return b.max(x, b.constant_like(0, x)); }

Value cross_entropy(Builder& b, Value logits, Value targets, std::int64_t vocabulary) {
  const Shape shape = b.type(logits).shape;
  if (shape.empty()) return logits;
  const Value column = b.iota({Element::i32, shape}, last_axis(shape));
  const Value live =
      b.compare(Direction::lt, column, b.constant_like(static_cast<double>(vocabulary), column));
  const Value masked = b.select(live, logits, b.constant_like(masked_score, logits));
  const Value largest = b.hold(b.maximum(masked, {last_axis(shape)}));
  const Value shifted = b.sub(masked, spread(b, largest, shape));
  const Value log_total = b.log(b.sum(b.exp(shifted), {last_axis(shape)}));
  const Value is_target = b.compare(Direction::eq, column, spread(b, targets, shape));
  const Value chosen =
      b.sum(b.select(is_target, shifted, b.constant_like(0, shifted)), {last_axis(shape)});
  const Value losses = b.sub(log_total, chosen);
  const Shape positions = b.type(losses).shape;
  Axes all(positions.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return b.scale(b.sum(losses, all), 1.0 / static_cast<double>(graph::element_count(positions)));
}

}  // namespace trainward::trainer
