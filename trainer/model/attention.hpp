// Causal self-attention with a tuneable rank, as AGILLM-3 has it.
//
// Queries and keys of every head pass through one matrix U [head width, rank]; scores are scaled by
// the head width, not the rank. Its ALiBi term is zero wherever the causal mask lets anything
// through, so it is left out.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// softmax(q · kᵀ · scale, each position seeing itself and those before it) · v.
// q, k [batch, positions, heads, any], v [batch, positions, heads, width of a head]; the result has
// the heads side by side: [batch, positions, heads * width of a head].
graph::Value causal_attention(graph::Builder& b, graph::Value q, graph::Value k, graph::Value v,
                              double scale);

struct AttentionWeights {
  graph::Value q, k, v, u, proj;
};

// x [batch, positions, width] -> the same shape.
graph::Value attention(graph::Builder& b, graph::Value x, const AttentionWeights& weights,
                       std::int64_t heads);

}  // namespace trainward::trainer
