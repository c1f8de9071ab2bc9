#include "trainer/model/layers.hpp"

#include <cmath>
#include <numbers>
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

Value wide(Builder& b, Value weight) {
  return b.type(weight).element == Element::f32 ? weight : b.convert(weight, Element::f32);
}

Value linear(Builder& b, Value x, Value weight) {
  return b.dot(x, weight, {{}, {}, {last_axis(b.type(x).shape)}, {1}});
}

Value add_bias(Builder& b, Value x, Value bias) {
  const Shape shape = b.type(x).shape;
  return b.add(x, b.broadcast(bias, {last_axis(shape)}, shape));
}

Value layer_norm(Builder& b, Value x, Value weight, Value bias, double epsilon) {
  const Shape shape = b.type(x).shape;
  const Value centred = b.sub(x, spread(b, mean_of_last(b, x), shape));
  const Value variance = mean_of_last(b, b.mul(centred, centred));
  const Value inverse = b.rsqrt(b.add(variance, b.constant_like(epsilon, variance)));
  const Value normal = b.mul(centred, spread(b, inverse, shape));
  return add_bias(b, b.mul(normal, b.broadcast(weight, {last_axis(shape)}, shape)), bias);
}

Value rms_norm(Builder& b, Value x, Value weight, double epsilon) {
  const Shape shape = b.type(x).shape;
  const Value square = mean_of_last(b, b.mul(x, x));
  const Value inverse = b.rsqrt(b.add(square, b.constant_like(epsilon, square)));
  return b.mul(b.mul(x, spread(b, inverse, shape)), b.broadcast(weight, {last_axis(shape)}, shape));
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

Value gelu(Builder& b, Value x) {
  const Value cube = b.mul(x, b.mul(x, x));
  const Value inner = b.scale(b.add(x, b.scale(cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  return b.mul(b.scale(x, 0.5), b.add(b.tanh(inner), b.constant_like(1, inner)));
}

Value silu(Builder& b, Value x) {
  const Value half = b.scale(x, 0.5);
  return b.mul(half, b.add(b.tanh(half), b.constant_like(1, half)));
}

Value rotate(Builder& b, Value x, Value cosines, Value sines) {
  const Shape shape = b.type(x).shape;
  if (shape.size() != 4) return x;
  Shape half = shape;
  half[3] /= 2;
  const Value x1 = b.slice(x, {0, 0, 0, 0}, half);
  const Value x2 = b.slice(x, {0, 0, 0, half[3]}, shape);
  const Value c = b.broadcast(cosines, {1, 3}, half);
  const Value s = b.broadcast(sines, {1, 3}, half);
  return b.concatenate({b.sub(b.mul(x1, c), b.mul(x2, s)), b.add(b.mul(x2, c), b.mul(x1, s))}, 3);
}

namespace {

// Position of each element in the row-major order of `shape`.
// `row`: how many rows of the last axis apart those of the first are; 0: as they lie.
Value positions_of(Builder& b, const Shape& shape, std::int64_t row) {
  const graph::Type type{Element::i32, shape};
  Value position = b.constant(0, type);
  double stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == 0 && row > 0) stride = static_cast<double>(row * shape.back());
    position = b.add(position, b.scale(b.iota(type, static_cast<std::int64_t>(axis)), stride));
    stride *= static_cast<double>(shape[axis]);
  }
  return position;
}

// A bijection of 32-bit integers whose every output bit depends on every input bit: "lowbias32" of
// C. Wellons' hash prospector.
Value scramble(Builder& b, Value x) {
  const auto fold = [&](Value v, double bits) {
    return b.bit_xor(v, b.shift_right(v, b.constant_like(bits, v)));
  };
  // As signed numbers, since that is what i32 constants are.
  const Value first = b.mul(fold(x, 16), b.constant_like(0x7feb352d, x));
  const Value second = b.mul(fold(first, 15), b.constant_like(0x846ca68b - 0x1p32, x));
  return fold(second, 16);
}

}  // namespace

Value dropout(Builder& b, Value x, Value key, double rate, const DropPlace& place) {
  const Shape shape = b.type(x).shape;
  const auto word = [&](std::int64_t i) {
    return b.broadcast(b.reshape(b.slice(key, {i}, {i + 1}), {}), {}, shape);
  };
  Value first = word(2);
  if (place.row > 0) first = b.scale(first, static_cast<double>(shape.back()));
  const Value position = b.add(positions_of(b, shape, place.row), first);
  Value once = scramble(b, b.bit_xor(position, word(0)));
  // Only here: with the position it would make the same choices in another order.
  if (place.salt != 0) once = b.bit_xor(once, b.constant_like(place.salt, once));
  const Value bits = scramble(b, b.bit_xor(once, word(1)));
  // 24 bits, so that the share is exact to 1 / 2^24 and the number is not negative.
  const Value level = b.shift_right(bits, b.constant_like(8, bits));
  const Value kept =
      b.compare(Direction::ge, level, b.constant_like(std::round(rate * 0x1p24), level));
  return b.select(kept, b.scale(x, 1 / (1 - rate)), b.constant_like(0, x));
}

namespace {

// Of each position; like the targets.
Value losses_of(Builder& b, Value logits, Value targets, std::int64_t vocabulary,
                double smoothing) {
  const Shape shape = b.type(logits).shape;
  if (shape.empty()) return logits;
  const Value column = b.iota({Element::i32, shape}, last_axis(shape));
  const auto without_padding = [&](Value x, double instead) {
    if (shape.back() == vocabulary) return x;
    const Value live =
        b.compare(Direction::lt, column, b.constant_like(static_cast<double>(vocabulary), column));
    return b.select(live, x, b.constant_like(instead, x));
  };
  const Value masked = without_padding(logits, masked_score);
  const Value largest = b.hold(b.maximum(masked, {last_axis(shape)}));
  const Value shifted = b.sub(masked, spread(b, largest, shape));
  const Value log_total = b.log(b.sum(b.exp(shifted), {last_axis(shape)}));
  const Value is_target = b.compare(Direction::eq, column, spread(b, targets, shape));
  const Value chosen =
      b.sum(b.select(is_target, shifted, b.constant_like(0, shifted)), {last_axis(shape)});
  Value losses = b.sub(log_total, chosen);
  if (smoothing > 0) {
    const Value real = without_padding(shifted, 0);
    const Value mean =
        b.scale(b.sum(real, {last_axis(shape)}), 1 / static_cast<double>(vocabulary));
    losses = b.add(b.scale(losses, 1 - smoothing), b.scale(b.sub(log_total, mean), smoothing));
  }
  return losses;
}

Value sum_of_all(Builder& b, Value x) {
  Axes all(b.type(x).shape.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return b.sum(x, all);
}

}  // namespace

Value cross_entropy(Builder& b, Value logits, Value targets, std::int64_t vocabulary,
                    double smoothing) {
  const Value losses = losses_of(b, logits, targets, vocabulary, smoothing);
  const auto count = static_cast<double>(graph::element_count(b.type(losses).shape));
  return b.scale(sum_of_all(b, losses), 1.0 / count);
}

Value weighted_cross_entropy(Builder& b, Value logits, Value targets, Value weights,
                             std::int64_t vocabulary, double smoothing) {
  const Value losses = losses_of(b, logits, targets, vocabulary, smoothing);
  return sum_of_all(b, b.mul(losses, weights));
}

}  // namespace trainward::trainer
