// The graphs of generating text, `rows` tokens at a time, with what attention has seen kept:
//
//   embed -> (project -> [the caller appends keys and values] -> attend, for each layer) -> head
//
// `first`: how many tokens came before these rows. `table` says what the weights are kept as.
// Attention looks at `context` places of keys and values, whatever they hold beyond the tokens that
// were seen; so a text that is short yet is attended to in a graph for short ones. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

struct DecodeSegments {
  graph::Graph embed;  // (ids [1, rows], first i32[], embedding parameters…) -> x [1, rows, width]
  graph::Graph project;  // (x, first, block parameters…) -> (q, k, v), each [1, rows, heads, …]
  graph::Graph head;     // (x, head parameters…) -> logits [1, rows, padded vocabulary]
};

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, const ParameterTable& table,
                                            std::int64_t rows);

// (x, q, keys [1, context, heads, …], values [1, context, heads, …], first, block parameters…) -> x
Result<graph::Graph> make_attend_segment(const ModelSpec& model, const ParameterTable& table,
                                         const DecodeSegments& segments, std::int64_t context);

}  // namespace trainward::trainer
