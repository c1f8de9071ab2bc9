#include "trainer/model/agillm3/ranked_attention.hpp"

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Value;

QueryKeyValue project_ranked(graph::Builder& b, Value x, const RankedWeights& weights,
                             std::int64_t heads) {
  const auto split = [&](Value y) { return split_heads(b, y, heads); };
  const Value q = split(linear(b, x, weights.q));
  const Value k = split(linear(b, x, weights.k));
  const Value v = split(linear(b, x, weights.v));
  const auto through = [&](Value y, Value matrix) { return b.dot(y, matrix, {{}, {}, {3}, {0}}); };
  const graph::Shape u = b.type(weights.u).shape;
  if (u.size() == 2 && u[1] < u[0]) return {through(q, weights.u), through(k, weights.u), v};
  return {through(q, b.dot(weights.u, weights.u, {{}, {}, {1}, {1}})), k, v};
}

}  // namespace trainward::trainer
