// What a sum over all chips of a mesh costs (an all-reduce: afterwards each chip has the sum), and
// the cheapest way to do it.
//
// Bytes are those of the data that each chip has; below 0 they count as 0. Costs are predictions
// from the fabric's figures (links.hpp) and as reliable as the worst of them. They are doubles, so
// nothing overflows. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/mesh/links.hpp"
#include "trainer/mesh/mesh.hpp"

namespace trainward::mesh {

struct AllReduceCost {
  double seconds = 0;
  double link_bytes = 0;             // through the narrowest link, both directions together
  Source source = Source::measured;  // of the worst figure in it
};

// Neighbours in a row, without a link from the last to the first.
AllReduceCost line(std::int64_t chips, const Fabric& fabric, std::int64_t bytes);

// Each has two neighbours; both directions are used.
AllReduceCost ring(std::int64_t chips, const Fabric& fabric, std::int64_t bytes);

// All rows at once, each a line: every chip of a row has the row's sum of one part of the data.
// Then all columns at once, each for its part. Then the parts are gathered in the rows.
AllReduceCost rows_then_columns(const Mesh& mesh, const Fabric& fabric, std::int64_t bytes);

enum class Algorithm {
  single,  // one chip: nothing to do
  line,    // through all chips, to and fro over the rows
  ring,    // in ring_order(); between hosts in any order
  rows_and_columns,
};

std::string_view to_string(Algorithm algorithm);

struct AllReduceChoice {
  Algorithm algorithm = Algorithm::single;
  AllReduceCost cost;
};

// The cheapest that the mesh allows; of two that cost the same, the one named first in Algorithm.
AllReduceChoice choose(const Mesh& mesh, const Fabric& fabric, std::int64_t bytes);

// "ring: 133 ms, 2.28 GiB through the narrowest link (measured)"
std::string to_string(const AllReduceChoice& choice);

}  // namespace trainward::mesh
