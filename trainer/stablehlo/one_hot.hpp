// Scattering by addition as a product: [ids, rows] ones where the row is the id's, times the
// updates. The rows are rounded up to a tile at once; an id beyond the real ones adds to what is
// cut off, or nowhere.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

Result<graph::Graph> multiply_scatters(const graph::Graph& graph);

}  // namespace trainward::stablehlo
