#include "trainer/model/training/step_flops.hpp"

#include "trainer/graph/flops.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

double flops_of(const graph::Graph& graph) {
  double sum = 0;
  for (const graph::Node& node : graph.nodes) sum += graph::flops_of(graph, node);
  return sum;
}

}  // namespace

Result<double> step_flops(TrainingSpec spec) {
  spec.columns = 1;  // what they share is computed once
  spec.recompute = false;
  spec.fused_attention = false;  // its products are seen then
  auto made = make_segments(spec);
  if (!made) return propagate(made);
  const double block = flops_of(made->block_forward) + flops_of(made->block_backward);
  const double batch = flops_of(made->embed) + flops_of(made->embed_backward) +
                       static_cast<double>(spec.model.layers) * block +
                       static_cast<double>(head_pieces(spec)) * flops_of(made->head);
  return static_cast<double>(spec.batches_per_step()) * batch;
}

}  // namespace trainward::trainer
