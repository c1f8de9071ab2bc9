// The graphs of generating text, `rows` tokens at a time, with what attention has seen kept:
//
//   embed -> (project -> [the caller appends keys and values] -> attend, for each layer) -> head
//
// Pure.
#pragma once

#include "common/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

struct DecodeSegments {
  graph::Graph embed;    // (ids [1, rows], table) -> x [1, rows, width]
  graph::Graph project;  // (x, block parameters…) -> (q, k, v), each [1, rows, heads, …]
  // (x, q, keys [1, context, heads, rank], values [1, context, heads, head width], first i32[],
  // block parameters…) -> x; `first`: how many tokens came before these rows
  graph::Graph attend;
  graph::Graph head;  // (x, head parameters…) -> logits [1, rows, padded vocabulary]
};

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, std::int64_t rows,
                                            std::int64_t context);

}  // namespace trainward::trainer
