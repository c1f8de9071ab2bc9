// Nothing of rank 0 enters, leaves, is reduced to, or is summed over devices: [1] instead, with
// reshapes inside, where scalars may stay.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

Result<graph::Graph> raise_ranks(const graph::Graph& graph);

}  // namespace trainward::stablehlo
