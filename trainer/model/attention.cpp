#include "trainer/model/attention.hpp"

#include <cmath>

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Shape;
using graph::Value;

Value causal_attention(Builder& b, Value q, Value k, Value v, double scale) {
  const Shape shape = b.type(v).shape;
  if (shape.size() != 4) return v;
  const Value scores = b.dot(q, k, {{0, 2}, {0, 2}, {3}, {3}});  // [batch, heads, to, from]
  const Value scaled = b.scale(scores, scale);
  const graph::Type square{Element::i32, {shape[1], shape[1]}};
  const Value causal = b.compare(Direction::le, b.iota(square, 1), b.iota(square, 0));
  const Shape score_shape = b.type(scores).shape;
  const Value masked = b.select(b.broadcast(causal, {2, 3}, score_shape), scaled,
                                b.constant_like(masked_score, scaled));
  const Value mixed = b.dot(softmax(b, masked), v, {{0, 1}, {0, 2}, {3}, {1}});
  return b.reshape(b.transpose(mixed, {0, 2, 1, 3}), {shape[0], shape[1], shape[2] * shape[3]});
}

Value attention(Builder& b, Value x, const AttentionWeights& weights, std::int64_t heads) {
  const Shape shape = b.type(x).shape;
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0) {
    b.set_error({ErrorKind::usage,
                 fmt::format("attention: {} does not divide into {} heads",
                             graph::to_string(b.type(x)), heads),
                 {},
                 {}});
    return {};
  }
  const std::int64_t positions = shape[1];
  const std::int64_t head_width = shape[2] / heads;
  const auto split = [&](Value y) {  // [batch, positions, heads, head width]
    return b.reshape(y, {shape[0], positions, heads, head_width});
  };
  const auto ranked = [&](Value weight) {
    return b.dot(split(linear(b, x, weight)), weights.u, {{}, {}, {3}, {0}});
  };
  const Value q = ranked(weights.q);
  const Value k = ranked(weights.k);
  const Value v = split(linear(b, x, weights.v));

  const double scale = 1 / std::sqrt(static_cast<double>(head_width));
  return linear(b, causal_attention(b, q, k, v, scale), weights.proj);
}

}  // namespace trainward::trainer
