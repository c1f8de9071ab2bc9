// Decides in which shapes the values of a graph are computed so that products and sums fill tiles.
//
// Products and sums ask for padded operands. The request passes from a value to its operands
// as long as zeros stay zeros on the way and that costs less than padding the value itself: through
// what moves elements and arithmetic, to small operands of products (weights instead of
// activations), to products that are padded anyway. Where it stops, the value is padded. Pure.
#pragma once

#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

struct PaddingPlan {
  // Per node the shape it is computed in: its own, or a padded one with zeros behind its elements.
  std::vector<graph::Shape> computed;
  // Per node and input the shape it reads it in.
  std::vector<std::vector<graph::Shape>> reads;
};

// Every product has an axis in each group (complete_groups).
PaddingPlan plan_padding(const graph::Graph& graph);

// The operand's shape for a reduction over these axes: those among the last two fill tiles.
graph::Shape reducible(graph::Shape shape, const graph::Axes& axes);

}  // namespace trainward::stablehlo
