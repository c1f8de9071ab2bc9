#include "trainer/mesh/ring_order.hpp"

#include <cstddef>

namespace trainward::mesh {
namespace {

// With an even number of rows: to and fro through all columns but the first, which is the way back.
// `number` gives the chip of a row and a column.
template <typename Number>
std::vector<std::int64_t> snake(const Mesh& mesh, const Number& number) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(mesh.devices()));
  order.push_back(number(0, 0));
  for (std::int64_t row = 0; row < mesh.rows; ++row) {
    for (std::int64_t i = 1; i < mesh.columns; ++i) {
      order.push_back(number(row, row % 2 == 0 ? i : mesh.columns - i));
    }
  }
  for (std::int64_t row = mesh.rows - 1; row >= 1; --row) order.push_back(number(row, 0));
  return order;
}

}  // namespace

std::vector<std::int64_t> ring_order(const Mesh& mesh) {
  if (!has_ring(mesh)) return {};
  if (mesh.rows % 2 == 0) {
    return snake(
        mesh, [&](std::int64_t row, std::int64_t column) { return row * mesh.columns + column; });
  }
  return snake(transposed(mesh),
               [&](std::int64_t row, std::int64_t column) { return column * mesh.columns + row; });
}

}  // namespace trainward::mesh
