#include "trainer/model/attention.hpp"

#include <cmath>

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Shape;
using graph::Value;

Value split_heads(Builder& b, Value x, std::int64_t heads) {
  const Shape shape = b.type(x).shape;
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0) {
    b.set_error({ErrorKind::usage,
                 fmt::format("attention: {} does not divide into {} heads",
                             graph::to_string(b.type(x)), heads),
                 {},
                 {}});
    return {};
  }
  return b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
}

namespace {

// Scores [batch, …, to, …, from] without what a query must not see; `to` is axis 2, `from` the
// last.
Value masked(Builder& b, Value scores, const Sight& sight) {
  const Shape shape = b.type(scores).shape;
  constexpr std::int64_t to = 2;
  const auto from = static_cast<std::int64_t>(shape.size()) - 1;
  const graph::Type pairs{Element::i32, {shape[to], shape.back()}};
  Value row = b.iota(pairs, 0);
  if (sight.first.valid()) row = b.add(row, b.broadcast(sight.first, {}, pairs.shape));
  const Value before = b.compare(Direction::le, b.iota(pairs, 1), row);
  const Value hidden = b.constant_like(masked_score, scores);
  const Value causal = b.select(b.broadcast(before, {to, from}, shape), scores, hidden);
  if (!sight.segments.valid()) return causal;
  const Value same = b.compare(Direction::eq, b.broadcast(sight.segments, {0, to}, shape),
                               b.broadcast(sight.segments, {0, from}, shape));
  return b.select(same, causal, hidden);
}

// q [b, to, groups, of a group, width] with k [b, from, groups, width]: nothing is repeated.
Value grouped(Builder& b, const QueryKeyValue& parts, double scale, const Sight& sight) {
  const auto [q, k, v] = parts;
  const Shape of_q = b.type(q).shape;
  const Shape of_v = b.type(v).shape;
  const std::int64_t groups = of_v[2];
  const Value by_group = b.reshape(q, {of_q[0], of_q[1], groups, of_q[2] / groups, of_q[3]});
  const Value scores =
      b.dot(by_group, k, {{0, 2}, {0, 2}, {4}, {3}});  // [b, groups, to, each, from]
  const Value shares = softmax(b, masked(b, b.scale(scores, scale), sight));
  const Value mixed = b.dot(shares, v, {{0, 1}, {0, 2}, {4}, {1}});  // [b, groups, to, each, width]
  return b.reshape(b.transpose(mixed, {0, 2, 1, 3, 4}), {of_q[0], of_q[1], of_q[2] * of_v[3]});
}

}  // namespace

Value causal_attention(Builder& b, const QueryKeyValue& parts, double scale, const Sight& sight) {
  const auto [q, k, v] = parts;
  const Shape shape = b.type(v).shape;
  if (shape.size() != 4) return v;
  if (b.type(q).shape[2] != shape[2]) return grouped(b, parts, scale, sight);
  const std::int64_t to = b.type(q).shape[1];
  const Value scores = b.dot(q, k, {{0, 2}, {0, 2}, {3}, {3}});  // [batch, heads, to, from]
  const Value shares = softmax(b, masked(b, b.scale(scores, scale), sight));
  const Value mixed = b.dot(shares, v, {{0, 1}, {0, 2}, {3}, {1}});
  return b.reshape(b.transpose(mixed, {0, 2, 1, 3}), {shape[0], to, shape[2] * shape[3]});
}

Value fused_attention(Builder& b, const QueryKeyValue& parts, double scale, Value segments) {
  std::vector<Value> inputs;
  for (const Value part : {parts.q, parts.k, parts.v}) {
    const bool f32 = b.products() == graph::Precision::f32;
    inputs.push_back(f32 ? part : b.convert(part, Element::bf16));
  }
  if (segments.valid()) inputs.push_back(segments);
  const Value mixed = b.append(graph::op::Attention{scale}, inputs);
  // For the gradient: what the forward made can be kept.
  b.append(graph::op::Attention{scale, graph::AttentionResult::statistics}, std::move(inputs));
  const Shape shape = b.type(mixed).shape;
  if (shape.size() != 4) return mixed;
  return b.reshape(b.convert(mixed, Element::f32), {shape[0], shape[1], shape[2] * shape[3]});
}

double score_scale(std::int64_t head_width) {
  return 1 / std::sqrt(static_cast<double>(head_width));
}

}  // namespace trainward::trainer
