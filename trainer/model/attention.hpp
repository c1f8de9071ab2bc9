// Causal self-attention, from queries, keys and values that an architecture projects.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// What attention is made of, [batch, positions, heads, …]; q and k of one width, v of the width of
// a head.
struct QueryKeyValue {
  graph::Value q, k, v;
};

// [batch, positions, width] -> [batch, positions, heads, width of a head]; an error of the builder
// when the heads do not divide it.
graph::Value split_heads(graph::Builder& b, graph::Value x, std::int64_t heads);

// softmax(q · kᵀ · scale) · v, where position `first` + i of the queries sees the positions 0 to
// `first` + i of the keys. `first`: an i32 scalar; invalid for 0. The result has the heads side by
// side: [batch, positions of q, heads * width of a head].
graph::Value causal_attention(graph::Builder& b, const QueryKeyValue& parts, double scale,
                              graph::Value first = {});

// The same as one operation, for devices that have it. All three parts are of one width.
graph::Value fused_attention(graph::Builder& b, const QueryKeyValue& parts, double scale);

// What scores are multiplied by.
double score_scale(std::int64_t width, std::int64_t heads);

}  // namespace trainward::trainer
