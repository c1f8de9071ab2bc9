// AGILLM-3: pre-LayerNorm blocks, attention with a tuneable rank, ReLU; a head of its own, or tied.
#pragma once

#include "trainer/model/architecture.hpp"
#include "trainer/model/attention.hpp"

namespace trainward::trainer {

// Queries, keys and values of attention with a tuneable rank.
//
// Queries and keys of every head pass through one matrix U [head width, rank]; scores are scaled by
// the head width, not the rank. With a rank of at least the head width the same scores are taken as
// q · (U · Uᵀ) · kᵀ, which is narrower and leaves the keys as they are. The ALiBi term that
// AGILLM-3 has is zero wherever the causal mask lets anything through, so it is left out.
struct RankedWeights {
  graph::Value q, k, v, u;
};

// x [batch, positions, width], each position for itself; q and k of ModelSpec::score_width().
QueryKeyValue project_ranked(graph::Builder& b, graph::Value x, const RankedWeights& weights);

const Architecture& agillm3();

}  // namespace trainward::trainer
