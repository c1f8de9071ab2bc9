#include "trainer/model/attention.hpp"

#include <cmath>

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Shape;
using graph::Value;

Value split_heads(Builder& b, Value x, std::int64_t head_width) {
  const Shape shape = b.type(x).shape;
  if (shape.size() != 3 || head_width <= 0 || shape[2] % head_width != 0) {
    b.set_error({ErrorKind::usage,
                 fmt::format("attention: {} does not divide into heads of {}",
                             graph::to_string(b.type(x)), head_width),
                 {},
                 {}});
    return {};
  }
  return b.reshape(x, {shape[0], shape[1], shape[2] / head_width, head_width});
}

namespace {

// Scores [batch, heads, rows, from] without what a query must not see. Where several heads of
// queries share one of keys, `rows` has the places of one after those of the other.
Value masked(Builder& b, Value scores, std::int64_t to, const Sight& sight) {
  const Shape shape = b.type(scores).shape;
  if (b.error()) return scores;
  const std::int64_t each = shape[2] / to;
  const graph::Type pairs{Element::i32, {shape[2], shape[3]}};
  const graph::Type by_head{Element::i32, {each, to, shape[3]}};
  Value row = each > 1 ? b.reshape(b.iota(by_head, 1), pairs.shape) : b.iota(pairs, 0);
  if (sight.first.valid()) row = b.add(row, b.broadcast(sight.first, {}, pairs.shape));
  const Value before = b.compare(Direction::le, b.iota(pairs, 1), row);
  const Value hidden = b.constant_like(masked_score, scores);
  const Value causal = b.select(b.broadcast(before, {2, 3}, shape), scores, hidden);
  if (!sight.segments.valid()) return causal;
  const Value repeated = b.broadcast(sight.segments, {0, 2}, {shape[0], each, to});
  const Value same = b.compare(
      Direction::eq, b.broadcast(b.reshape(repeated, {shape[0], shape[2]}), {0, 2}, shape),
      b.broadcast(sight.segments, {0, 3}, shape));
  return b.select(same, causal, hidden);
}

// q [b, to, groups * each, width] with k [b, from, groups, width]. Nothing is repeated: the queries
// of a group become the rows of one product, which also fills tiles whatever a group's size.
Value grouped(Builder& b, const QueryKeyValue& parts, double scale, const Sight& sight) {
  const auto [q, k, v] = parts;
  const Shape of_q = b.type(q).shape;
  const Shape of_v = b.type(v).shape;
  const std::int64_t groups = of_v[2];
  const std::int64_t to = of_q[1];
  const std::int64_t each = of_q[2] / groups;
  const Value apart = b.reshape(q, {of_q[0], to, groups, each, of_q[3]});
  const Value rows =
      b.reshape(b.transpose(apart, {0, 2, 3, 1, 4}), {of_q[0], groups, each * to, of_q[3]});
  const Value scores = b.dot(rows, k, {{0, 1}, {0, 2}, {3}, {3}});  // [b, groups, rows, from]
  const Value shares = softmax(b, masked(b, b.scale(scores, scale), to, sight));
  const Value mixed = b.dot(shares, v, {{0, 1}, {0, 2}, {3}, {1}});  // [b, groups, rows, width]
  const Value by_head = b.reshape(mixed, {of_q[0], groups, each, to, of_v[3]});
  return b.reshape(b.transpose(by_head, {0, 3, 1, 2, 4}), {of_q[0], to, of_q[2] * of_v[3]});
}

}  // namespace

Value causal_attention(Builder& b, const QueryKeyValue& parts, double scale, const Sight& sight) {
  const auto [q, k, v] = parts;
  const Shape shape = b.type(v).shape;
  if (shape.size() != 4) return v;
  if (b.type(q).shape[2] != shape[2]) return grouped(b, parts, scale, sight);
  const std::int64_t to = b.type(q).shape[1];
  const Value scores = b.dot(q, k, {{0, 2}, {0, 2}, {3}, {3}});  // [batch, heads, to, from]
  const Value shares = softmax(b, masked(b, b.scale(scores, scale), to, sight));
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
