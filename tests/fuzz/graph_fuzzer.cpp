// The text form of a graph: what is read prints as it was, and its sizes can be counted.
#include "graph/parse.hpp"
#include "graph/print.hpp"
#include "require.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainward;
  const std::string_view text = fuzz::text_of(data, size);
  const auto graph = graph::parse(text, "input");
  if (!graph) {
    fuzz::require(!graph.error().what.empty(), "a refusal says why");
    return 0;
  }
  fuzz::require(graph::print(*graph) == text, "what was read prints as it was");
  for (const graph::Node& node : graph->nodes) {
    fuzz::require(graph::element_count(node.type.shape) > 0, "no value is empty");
  }
  const auto small = graph::simplify(*graph);
  for (const auto& made : {small, graph::round_operands(small), graph::widen_operands(small),
                           graph::pack_parameters(small, [](std::size_t) { return true; })}) {
    fuzz::require(graph::parse(graph::print(made), "made").has_value(), "passes make graphs");
  }
  return 0;
}
