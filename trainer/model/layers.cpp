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

Value embedding_rows(Builder& b, Value table, Value ids) {
  const Value rows = wide(b, b.gather_rows(table, ids));
  if (b.columns() == 1) return rows;
  const Shape shape = b.type(rows).shape;
  const auto count = static_cast<double>(b.type(table).shape[0]);
  const Value zero = b.constant_like(0, rows);
  const Value each = spread(b, ids, shape);
  const Value begun = b.compare(Direction::ge, each, b.constant_like(0, each));
  const Value ended = b.compare(Direction::lt, each, b.constant_like(count, each));
  return b.sum_columns(b.select(begun, b.select(ended, rows, zero), zero));
}

namespace {

// What losses are made of, of each position: the log of the sum of the powers of all logits, the
// target's logit, and their sum where something is smoothed, all less something that is the same
// for all three.
struct LogitSums {
  Value log_total, chosen, all = {};
};

class Logits {
 public:
  Logits(Builder& b, Value logits, const Vocabulary& vocabulary)
      : b_(b), vocabulary_(vocabulary), shape_(b.type(logits).shape) {
    if (shape_.empty()) return;
    token_ = b_.iota({Element::i32, shape_}, last_axis(shape_));
    if (vocabulary.first.valid()) {
      token_ = b_.add(token_, b_.broadcast(vocabulary.first, {}, shape_));
    }
    masked_ = without_padding(logits, masked_score);
    largest_ = b_.hold(b_.maximum(masked_, {last_axis(shape_)}));
    shifted_ = b_.sub(masked_, spread(b_, largest_, shape_));
  }

  LogitSums sums(Value targets, bool smooth) {
    const Value log_total = b_.log(total(b_.exp(shifted_)));
    if (b_.columns() == 1) {
      LogitSums sums{log_total, of_target(shifted_, targets)};
      if (smooth) sums.all = total(without_padding(shifted_, 0));
      return sums;
    }
    return over_columns(b_.add(log_total, largest_), targets, smooth);
  }

 private:
  Value without_padding(Value x, double instead) {
    const bool none = !vocabulary_.first.valid() && shape_.back() == vocabulary_.size;
    if (none) return x;
    const Value end = b_.constant_like(static_cast<double>(vocabulary_.size), token_);
    return b_.select(b_.compare(Direction::lt, token_, end), x, b_.constant_like(instead, x));
  }
  Value total(Value x) { return b_.sum(x, {last_axis(shape_)}); }
  Value of_target(Value x, Value targets) {
    const Value is_target = b_.compare(Direction::eq, token_, spread(b_, targets, shape_));
    return total(b_.select(is_target, x, b_.constant_like(0, x)));
  }

  // Each device puts the log of its own sum into a place of its own beside the others', so that one
  // exchange of a few numbers for each position tells all of them everything.
  LogitSums over_columns(Value own_log_total, Value targets, bool smooth) {
    const std::int64_t columns = b_.columns();
    Shape places = shape_;
    places.back() = columns;
    const Value place = b_.iota({Element::i32, places}, last_axis(places));
    const Value first = b_.scale(place, static_cast<double>(shape_.back()));
    const Value is_own =
        b_.compare(Direction::eq, first, b_.broadcast(vocabulary_.first, {}, places));
    const Value logs = spread(b_, own_log_total, places);
    std::vector<Value> parts{b_.select(is_own, logs, b_.constant_like(0, logs))};
    Shape one = places;
    one.back() = 1;
    parts.push_back(b_.reshape(of_target(masked_, targets), one));
    if (smooth) parts.push_back(b_.reshape(total(without_padding(masked_, 0)), one));
    const Value told = b_.sum_columns(b_.concatenate(parts, last_axis(shape_)));
    const auto part = [&](std::int64_t from, std::int64_t count) {
      Axes start(shape_.size(), 0);
      Axes limit = places;
      start.back() = from;
      limit.back() = from + count;
      return b_.slice(told, start, limit);
    };
    const Shape rows(shape_.begin(), shape_.end() - 1);
    const Value all_logs = part(0, columns);
    const Value largest = b_.hold(b_.maximum(all_logs, {last_axis(places)}));
    const Value powers = b_.exp(b_.sub(all_logs, spread(b_, largest, places)));
    LogitSums sums{b_.add(b_.log(b_.sum(powers, {last_axis(places)})), largest),
                   b_.reshape(part(columns, 1), rows)};
    if (smooth) sums.all = b_.reshape(part(columns + 1, 1), rows);
    return sums;
  }

  Builder& b_;
  const Vocabulary& vocabulary_;
  Shape shape_;
  Value token_;  // of each logit
  Value masked_, largest_, shifted_;
};

// Of each position; like the targets.
Value losses_of(Builder& b, Value logits, Value targets, const Vocabulary& vocabulary,
                double smoothing) {
  if (b.type(logits).shape.empty()) return logits;
  const LogitSums sums = Logits(b, logits, vocabulary).sums(targets, smoothing > 0);
  Value losses = b.sub(sums.log_total, sums.chosen);
  if (smoothing > 0) {
    const Value mean = b.scale(sums.all, 1 / static_cast<double>(vocabulary.size));
    losses = b.add(b.scale(losses, 1 - smoothing), b.scale(b.sub(sums.log_total, mean), smoothing));
  }
  return losses;
}

Value sum_of_all(Builder& b, Value x) {
  Axes all(b.type(x).shape.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return b.sum(x, all);
}

}  // namespace

Value cross_entropy(Builder& b, Value logits, Value targets, const Vocabulary& vocabulary,
                    double smoothing) {
  const Value losses = losses_of(b, logits, targets, vocabulary, smoothing);
  const auto count = static_cast<double>(graph::element_count(b.type(losses).shape));
  return b.scale(sum_of_all(b, losses), 1.0 / count);
}

Value weighted_cross_entropy(Builder& b, Value logits, Value targets, Value weights,
                             const Vocabulary& vocabulary, double smoothing) {
  const Value losses = losses_of(b, logits, targets, vocabulary, smoothing);
  return sum_of_all(b, b.mul(losses, weights));
}

}  // namespace trainward::trainer
