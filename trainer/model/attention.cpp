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

Value fused_attention(Builder& b, const QueryKeyValue& parts, double scale) {
  std::vector<Value> inputs;
  for (const Value part : {parts.q, parts.k, parts.v}) {
    inputs.push_back(b.convert(part, Element::bf16));
  }
  const Value mixed = b.append(graph::op::Attention{scale}, inputs);
  // For the gradient: what the forward made can be kept.
  b.append(graph::op::Attention{scale, graph::AttentionResult::statistics}, std::move(inputs));
  const Shape shape = b.type(mixed).shape;
  if (shape.size() != 4) return mixed;
  return b.reshape(b.convert(mixed, Element::f32), {shape[0], shape[1], shape[2] * shape[3]});
}

double score_scale(std::int64_t width, std::int64_t heads) {
  const std::int64_t head_width = width / heads;
  return 1 / std::sqrt(static_cast<double>(head_width));
}

}  // namespace trainward::trainer
