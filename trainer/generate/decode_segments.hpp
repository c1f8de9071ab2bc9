// The graphs of generating text, `rows` tokens at a time, with what attention has seen kept:
//
//   embed -> (project -> [the caller appends keys and values] -> attend, for each layer) -> head
//
// `first`: how many tokens came before these rows. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

struct DecodeSegments {
  graph::Graph embed;  // (ids [1, rows], first i32[], embedding parameters…) -> x [1, rows, width]
  graph::Graph project;  // (x, first, block parameters…) -> (q, k, v), each [1, rows, heads, …]
  // (x, q, keys [1, context, heads, …], values [1, context, heads, …], first, block parameters…) ->
  // x
  graph::Graph attend;
  graph::Graph head;  // (x, head parameters…) -> logits [1, rows, padded vocabulary]
};

Result<DecodeSegments> make_decode_segments(const ModelSpec& model, std::int64_t rows,
                                            std::int64_t context);

}  // namespace trainward::trainer
