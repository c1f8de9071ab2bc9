// Causal self-attention, from queries, keys and values that an architecture projects.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// What attention is made of, [batch, positions, heads, …]; q and k of one width, v of the width of
// a head. k and v may have fewer heads than q: each of theirs serves as many neighbours of q's
// (grouped-query attention, Ainslie et al. 2023).
struct QueryKeyValue {
  graph::Value q, k, v;
};

// [batch, positions, width] -> [batch, positions, heads, width of a head]; an error of the builder
// when such heads do not make up the width.
graph::Value split_heads(graph::Builder& b, graph::Value x, std::int64_t head_width);

// What a query sees of the keys before it.
struct Sight {
  graph::Value first = {};     // i32 scalar: the place of the first query; invalid for 0
  graph::Value segments = {};  // i32[batch, positions]: only of its own; invalid: of its row
};

// softmax(q · kᵀ · scale) · v, where position `first` + i of the queries sees the positions 0 to
// `first` + i of the keys. The result has the heads side by side: [batch, positions of q, heads *
// width of a head].
graph::Value causal_attention(graph::Builder& b, const QueryKeyValue& parts, double scale,
                              const Sight& sight = {});

// The same as one operation, for what has it, from position 0 on. In the precision of the builder.
// `segments` as in Sight.
graph::Value fused_attention(graph::Builder& b, const QueryKeyValue& parts, double scale,
                             graph::Value segments = {});

// What scores are multiplied by.
double score_scale(std::int64_t head_width);

}  // namespace trainward::trainer
