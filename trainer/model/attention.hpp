// Causal self-attention with a tuneable rank, as AGILLM-3 has it.
//
// Queries and keys of every head pass through one matrix U [head width, rank]; scores are scaled by
// the head width, not the rank. With a rank of at least the head width the same scores are taken as
// q · (U · Uᵀ) · kᵀ, which is narrower and leaves the keys as they are. Its ALiBi term is zero
// wherever the causal mask lets anything through, so it is left out.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// What attention is made of, [batch, positions, heads, …]; q and k of ModelSpec::score_width(), v
// of the width of a head.
struct QueryKeyValue {
  graph::Value q, k, v;
};

// softmax(q · kᵀ · scale) · v, where position `first` + i of the queries sees the positions 0 to
// `first` + i of the keys. `first`: an i32 scalar; invalid for 0. The result has the heads side by
// side: [batch, positions of q, heads * width of a head].
graph::Value causal_attention(graph::Builder& b, const QueryKeyValue& parts, double scale,
                              graph::Value first = {});

// The same as one operation, for devices that have it. All three parts are of one width.
graph::Value fused_attention(graph::Builder& b, const QueryKeyValue& parts, double scale);

struct AttentionWeights {
  graph::Value q, k, v, u, proj;
};

// x [batch, positions, width], each position for itself.
QueryKeyValue project(graph::Builder& b, graph::Value x, const AttentionWeights& weights,
                      std::int64_t heads);

// What scores are multiplied by.
double score_scale(std::int64_t width, std::int64_t heads);

// x [batch, positions, width] -> the same shape.
graph::Value attention(graph::Builder& b, graph::Value x, const AttentionWeights& weights,
                       std::int64_t heads, bool fused = false);

}  // namespace trainward::trainer
