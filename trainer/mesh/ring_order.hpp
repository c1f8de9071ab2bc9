// Rings on a mesh: a way past every chip and back to the first, over links between neighbours.
//
// Rows of a mesh have no link around, so a ring needs both sides to be 2 or more and one of them to
// be even: on a chessboard it changes colour with every hop, and must end where it began. On a mesh
// of two rows the ring is its perimeter. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/mesh/mesh.hpp"

namespace trainward::mesh {

[[nodiscard]] constexpr bool has_ring(const Mesh& mesh) {
  return mesh.rows >= 2 && mesh.columns >= 2 && (mesh.rows % 2 == 0 || mesh.columns % 2 == 0);
}

// The numbers of the chips, row by row, in the order of the ring, from chip 0. Empty without a
// ring.
[[nodiscard]] std::vector<std::int64_t> ring_order(const Mesh& mesh);

}  // namespace trainward::mesh
