// The graphs of one training step, cut where layers meet:
//
//   embed -> block forward (each layer) -> head -> block backward (each layer) -> embed backward
//
// One block graph serves every layer with other buffers. All gradients come from differentiate().
// What block backward needs of block forward is either kept (products, reductions and powers, as
// bf16 when that is all it needs of them; the cheap rest is computed again) or, with `recompute`,
// nothing but the block's input. Parameters are handed in as bf16 where the graphs say so. Pure.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

struct Segments {
  graph::Graph embed;          // (ids, embedding parameters…) -> x
  graph::Graph block_forward;  // (x, key?, block parameters…) -> (y, kept…)
  graph::Graph head;           // (ids, x, head parameters…) -> (loss, dx, d head parameters…)
  // (x, key?, block parameters…, kept…, dy) -> (dx, d block parameters…)
  graph::Graph block_backward;
  graph::Graph embed_backward;  // (ids, dx) -> d embedding parameters…
  // For data that is not trained on.
  graph::Graph block_evaluate;  // (x, block parameters…) -> y
  graph::Graph head_evaluate;   // (ids, x, head parameters…) -> loss
  std::vector<graph::Type> kept;
};

// The key, i32[3], is there when something is dropped; it must be another one for every layer and
// every time. Gradients are those of loss / accumulation, to be added up over a step.
Result<Segments> make_segments(const TrainingSpec& spec);

// The simplified graph of these outputs goes to `into`; or the builder's error. Parameters from
// `first_weight` on become bf16 where nothing but products in bf16 read them.
Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, std::size_t first_weight = SIZE_MAX);

}  // namespace trainward::trainer
