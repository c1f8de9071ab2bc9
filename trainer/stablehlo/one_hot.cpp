#include "trainer/stablehlo/one_hot.hpp"

#include "trainer/stablehlo/rewrite.hpp"
#include "trainer/stablehlo/tile_shapes.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Element;
using graph::Value;

Value one_hot(graph::Builder& b, Value ids, std::int64_t rows) {
  const graph::Type type{Element::i32, {b.type(ids).shape[0], rows}};
  const Value hit =
      b.compare(graph::Direction::eq, b.broadcast(ids, {0}, type.shape), b.iota(type, 1));
  const graph::Type real{Element::f32, type.shape};
  return b.select(hit, b.constant(1, real), b.constant(0, real));
}

}  // namespace

Result<graph::Graph> multiply_scatters(const graph::Graph& graph) {
  Rewrite rewrite(graph);
  graph::Builder& b = rewrite.out();
  for (std::size_t i = 0; i < graph.nodes.size() && !b.error(); ++i) {
    const graph::Node& node = graph.nodes[i];
    const auto* scatter = std::get_if<graph::op::ScatterAddRows>(&node.op);
    if (scatter == nullptr) {
      rewrite.copy(i);
      continue;
    }
    const std::int64_t count = graph::element_count(graph.type(node.inputs[0]).shape);
    const std::int64_t width = node.type.shape[1];
    const Value ids = rewrite.reshape(rewrite[node.inputs[0]], {count});
    const Value updates = rewrite.reshape(rewrite[node.inputs[1]], {count, width});
    const Value hot = one_hot(b, ids, rounded_up(scatter->rows));
    const Value sums =
        b.append(graph::op::DotGeneral{{}, {}, {0}, {0}, graph::Precision::f32}, {hot, updates});
    rewrite.put(i, b.slice(sums, {0, 0}, {scatter->rows, width}));
  }
  return rewrite.finish();
}

}  // namespace trainward::stablehlo
