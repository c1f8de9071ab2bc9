#include "trainer/model/segment_parts.hpp"

#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

namespace trainward::trainer {

std::vector<graph::Value> add_parameters(graph::Builder& b, const ParameterTable& table,
                                         const std::vector<std::size_t>& which) {
  std::vector<graph::Value> values;
  values.reserve(which.size());
  for (const std::size_t i : which) {
    values.push_back(b.parameter(table.infos[i].name, {graph::Element::f32, table.infos[i].shape}));
  }
  return values;
}

Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, std::size_t first_weight) {
  Result<graph::Graph> graph = b.finish(outputs);
  if (!graph) return propagate(graph);
  into = graph::pack_parameters(graph::simplify(graph::round_operands(*graph)),
                                [&](std::size_t position) { return position >= first_weight; });
  return {};
}

}  // namespace trainward::trainer
