// How chips, or processes, are arranged: rows and columns, each linked to its neighbours.
//
// A plain value. Both sides are at least 1; chips are numbered row by row. There are no links from
// one edge of the mesh around to the other.
#pragma once

#include <cstdint>

namespace trainward::mesh {

struct Mesh {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  [[nodiscard]] constexpr std::int64_t devices() const { return rows * columns; }

  friend constexpr bool operator==(const Mesh&, const Mesh&) = default;
};

// The same chips seen from the side.
constexpr Mesh transposed(const Mesh& mesh) { return {mesh.columns, mesh.rows}; }

}  // namespace trainward::mesh
