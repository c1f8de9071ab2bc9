// Graph to graph: to what the compiler of a device takes.
//
// For all of them:
// - Parameters, outputs, reductions and sums over devices of rank 0 are of shape [1].
// - Shift counts are masked to five bits, as StableHLO means larger ones otherwise.
// For Tenstorrent's, and its tiles of 32 x 32:
// - Scattering by addition becomes a product with a one-hot matrix.
// - Products and reductions are aligned to tiles as tiles.hpp says, by zeros (sums and products) or
//   by the lowest f32 (maxima), and the results cut back. Products of bf16 operands stay that.
// Results are the same up to the order of f32 sums, as long as all values are finite: padding is
// multiplied too, and zero times infinity is not zero.
//
// Pure; parameters and outputs keep their number and order; the result is simplified, and lower()
// leaves its own results alone.
// Errors (usage): a product that rounds f32 operands (graph::round_operands makes them bf16), or a
// graph whose padded sizes are too large.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

enum class Target {
  tiles,    // Tenstorrent's compiler, and the simulated N300
  general,  // XLA's, which has every operation and needs no tiles
};

Result<graph::Graph> lower(const graph::Graph& graph, Target target = Target::tiles);

}  // namespace trainward::stablehlo
