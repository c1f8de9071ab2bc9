#include "trainer/stablehlo/lower.hpp"

#include "trainer/graph/passes.hpp"
#include "trainer/stablehlo/align.hpp"
#include "trainer/stablehlo/counts.hpp"
#include "trainer/stablehlo/dot_groups.hpp"
#include "trainer/stablehlo/one_hot.hpp"
#include "trainer/stablehlo/rank.hpp"

namespace trainward::stablehlo {
namespace {

// A product that rounds its operands as it reads them; StableHLO's rounds none.
Status check_products(const graph::Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const auto* dot = std::get_if<graph::op::DotGeneral>(&node.op);
    if (dot == nullptr || dot->precision == graph::Precision::f32) continue;
    if (graph.type(node.inputs[0]).element == graph::Element::bf16) continue;
    return fail(
        ErrorKind::usage,
        fmt::format("dot_general: rounds its operands; round_operands() says how (node %{})", i));
  }
  return {};
}

}  // namespace

Result<graph::Graph> lower(const graph::Graph& graph, Target target) {
  if (auto ok = check_products(graph); !ok) return propagate(ok);
  graph::Graph lowered = graph::simplify(graph);
  using Step = Result<graph::Graph> (*)(const graph::Graph&);
  const std::vector<Step> steps =
      target == Target::tiles
          ? std::vector<Step>{multiply_scatters, raise_ranks, mask_counts, complete_groups, align}
          : std::vector<Step>{raise_ranks, mask_counts};
  for (const Step step : steps) {
    Result<graph::Graph> next = step(lowered);
    if (!next) return next;
    lowered = graph::simplify(*next);
  }
  return lowered;
}

}  // namespace trainward::stablehlo
