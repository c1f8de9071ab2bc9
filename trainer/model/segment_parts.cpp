#include "trainer/model/segment_parts.hpp"

#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

namespace trainward::trainer {

Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, std::size_t first_weight) {
  Result<graph::Graph> graph = b.finish(outputs);
  if (!graph) return propagate(graph);
  into = graph::pack_parameters(graph::simplify(graph::round_operands(*graph)),
                                [&](std::size_t position) { return position >= first_weight; });
  return {};
}

}  // namespace trainward::trainer
