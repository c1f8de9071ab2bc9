// The graphs of one training step, cut where layers meet:
//
//   embed -> block forward (each layer) -> head -> block backward (each layer) -> embed backward
//
// One block graph serves every layer with other buffers. All gradients come from differentiate().
// What block backward needs of block forward is either kept (products, reductions and powers, as
// bf16 when that is all it needs of them; the cheap rest is computed again) or, with `recompute`,
// nothing but the block's input. Parameters are handed in as bf16 where the graphs say so. Pure.
#pragma once

#include <functional>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/graph.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

struct Segments {
  graph::Graph embed;          // (ids, first?, embedding parameters…) -> x
  graph::Graph block_forward;  // (x, key?, segments?, block parameters…) -> (y, kept…)
  graph::Graph head;           // (what it predicts, x, head parameters…) -> (loss, dx, d head…)
  // (x, key?, segments?, block parameters…, kept…, dy) -> (dx, d block parameters…)
  graph::Graph block_backward;
  // (ids, first?, dx) -> d embedding parameters…; no outputs: nothing to do
  graph::Graph embed_backward;
  // For data that is not trained on.
  graph::Graph block_evaluate;  // (x, segments?, block parameters…) -> y
  graph::Graph head_evaluate;   // (what it predicts, x, head parameters…) -> loss
  std::vector<graph::Type> kept;
};

// What a head is given before x: the batch's ids alone, of whose rows each position predicts the
// next; or, where predictions have weights, for `head_rows()` positions at a time the ids they
// predict and the weights of that, i32 and f32 [1, rows]. x is [1, rows, width] then: a batch's
// positions go through the head in pieces, so that logits of a large vocabulary never lie in memory
// all at once. A batch that is one piece has the shape of its ids. Where devices share the tokens
// (TrainingSpec::columns) embedding and head are also told, last before x, the first that is a
// device's own: i32.
std::size_t head_inputs(const TrainingSpec& spec);
std::int64_t head_rows(const TrainingSpec& spec);    // divides the batch's positions
std::int64_t head_pieces(const TrainingSpec& spec);  // 1: the batch is not cut

// With columns, parameters and their gradients are a device's shares, and of what all devices of a
// row have alike gradients are summands (graph::op::AllReduce).
//
// The key, i32[3], is there when something is dropped; it must be another one for every layer and
// every time. Gradients, of what is trained alone, are those of loss / accumulation, or of the
// weighted loss; to be added up over a step.
Result<Segments> make_segments(const TrainingSpec& spec);

// Whether anything is dropped: then blocks take a key.
bool drops(const TrainingSpec& spec);

// The simplified graph of these outputs goes to `into`; or the builder's error. Parameters that
// `may_pack` allows, by their number, become bf16 where nothing but products in bf16 read them.
Status finish_segment(
    const graph::Builder& b, const std::vector<graph::Value>& outputs, graph::Graph& into,
    const std::function<bool(std::size_t)>& may_pack = [](std::size_t) { return false; });

}  // namespace trainward::trainer
