#include "trainer/model/attention.hpp"

#include <cmath>

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Shape;
using graph::Value;

Value causal_attention(Builder& b, const QueryKeyValue& parts, double scale, Value first) {
  const auto [q, k, v] = parts;
  const Shape shape = b.type(v).shape;
  if (shape.size() != 4) return v;
  const std::int64_t to = b.type(q).shape[1];
  const Value scores = b.dot(q, k, {{0, 2}, {0, 2}, {3}, {3}});  // [batch, heads, to, from]
  const Value scaled = b.scale(scores, scale);
  const graph::Type pairs{Element::i32, {to, shape[1]}};
  Value row = b.iota(pairs, 0);
  if (first.valid()) row = b.add(row, b.broadcast(first, {}, pairs.shape));
  const Value causal = b.compare(Direction::le, b.iota(pairs, 1), row);
  const Shape score_shape = b.type(scores).shape;
  const Value masked = b.select(b.broadcast(causal, {2, 3}, score_shape), scaled,
                                b.constant_like(masked_score, scaled));
  const Value mixed = b.dot(softmax(b, masked), v, {{0, 1}, {0, 2}, {3}, {1}});
  return b.reshape(b.transpose(mixed, {0, 2, 1, 3}), {shape[0], to, shape[2] * shape[3]});
}

QueryKeyValue project(Builder& b, Value x, const AttentionWeights& weights, std::int64_t heads) {
  const Shape shape = b.type(x).shape;
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0) {
    b.set_error({ErrorKind::usage,
                 fmt::format("attention: {} does not divide into {} heads",
                             graph::to_string(b.type(x)), heads),
                 {},
                 {}});
    return {};
  }
  const auto split = [&](Value y) {  // [batch, positions, heads, head width]
    return b.reshape(y, {shape[0], shape[1], heads, shape[2] / heads});
  };
  const auto ranked = [&](Value weight) {
    return b.dot(split(linear(b, x, weight)), weights.u, {{}, {}, {3}, {0}});
  };
  const Value q = ranked(weights.q);
  const Value k = ranked(weights.k);
  return {q, k, split(linear(b, x, weights.v))};
}

double score_scale(std::int64_t width, std::int64_t heads) {
  return 1 / std::sqrt(static_cast<double>(width / heads));
}

Value attention(Builder& b, Value x, const AttentionWeights& weights, std::int64_t heads) {
  const QueryKeyValue parts = project(b, x, weights, heads);
  if (b.error()) return {};
  const double scale = score_scale(b.type(x).shape[2], heads);
  return linear(b, causal_attention(b, parts, scale), weights.proj);
}

}  // namespace trainward::trainer
