#include "trainer/stablehlo/tiles.hpp"

#include <algorithm>

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Graph;
using graph::Node;
using graph::Shape;

std::int64_t product(const Shape& shape, const Axes& axes) {
  std::int64_t size = 1;
  for (const std::int64_t axis : axes) size *= shape[static_cast<std::size_t>(axis)];
  return size;
}

// What is wrong with a node, without its number; empty when nothing is.
class Check {
 public:
  Check(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::string operator()(const op::DotGeneral& dot) const {
    const Axes rows = graph::other_axes(shape(0).size(), dot.lhs_batch, dot.lhs_contract);
    const Axes columns = graph::other_axes(shape(1).size(), dot.rhs_batch, dot.rhs_contract);
    std::string wrong = multiple("matmul inner dimension", product(shape(0), dot.lhs_contract));
    if (wrong.empty()) wrong = multiple("matmul row dimension", product(shape(0), rows));
    if (wrong.empty()) wrong = multiple("matmul column dimension", product(shape(1), columns));
    return wrong;
  }
  std::string operator()(const op::Reduce& reduce) const {
    if (node_.type.shape.empty()) return "reduction result is of rank 0";
    for (const std::int64_t axis : reduce.axes) {
      const auto at = static_cast<std::size_t>(axis);
      if (at + 2 < shape(0).size()) continue;
      std::string wrong = multiple("reduced dimension", shape(0)[at]);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }
  std::string operator()(const op::Parameter&) const { return ranked("parameter"); }
  std::string operator()(const op::AllReduce&) const { return ranked("sum over devices"); }
  template <typename Other>
  std::string operator()(const Other&) const {
    return {};
  }

 private:
  [[nodiscard]] const Shape& shape(std::size_t input) const {
    return graph_.type(node_.inputs[input]).shape;
  }
  [[nodiscard]] std::string ranked(std::string_view what) const {
    return node_.type.shape.empty() ? fmt::format("{} is of rank 0", what) : std::string();
  }
  static std::string multiple(std::string_view what, std::int64_t size) {
    if (size % tile == 0) return {};
    return fmt::format("{} {} is not a multiple of the tile size {}", what, size, tile);
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

Status check_tiles(const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string wrong = std::visit(Check(graph, graph.nodes[i]), graph.nodes[i].op);
    if (!wrong.empty()) return fail(ErrorKind::usage, fmt::format("{} (node %{})", wrong, i));
  }
  for (const graph::Value output : graph.outputs) {
    if (graph.type(output).shape.empty()) {
      return fail(ErrorKind::usage, fmt::format("output is of rank 0 (node %{})", output.id));
    }
  }
  return {};
}

}  // namespace trainward::stablehlo
