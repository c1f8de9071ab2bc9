// Products and reductions fill tiles: operands are padded as plan_padding() says, and results cut
// back where they are needed unpadded.
//
// A value exists in one padded form, which all that can use it share; zeros are added behind its
// elements, the lowest f32 for a maximum. bf16 is padded as f32 and converted back: the same
// values, and not every machine pads bf16.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

// Every product has an axis in each group (complete_groups); reductions leave an axis.
Result<graph::Graph> align(const graph::Graph& graph);

}  // namespace trainward::stablehlo
