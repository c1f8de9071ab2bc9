// A program for tiles without the zeros that fill them.
//
// Lowering pads products and sums with zeros, which hardware made of tiles computes for nothing; a
// simulation of it need not. Values that are zero beyond some size are carried without that part,
// and only padded where they are read. Results are the same up to the order of f32 sums, as
// long as all values are finite. Pure; parameters and outputs stay as they are.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::n300 {

Result<graph::Graph> without_padding(const graph::Graph& graph);

}  // namespace trainward::n300
