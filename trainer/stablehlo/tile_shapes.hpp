// The shapes that alignment is about: how large operands must become for full tiles, and what
// padding means on the other side of an operation that only moves elements.
//
// A padded shape has the axes of the value's own shape, each as large or larger; what is added
// comes after the value's elements. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "trainer/graph/op.hpp"
#include "trainer/stablehlo/tiles.hpp"

namespace trainward::stablehlo {

constexpr std::int64_t rounded_up(std::int64_t size, std::int64_t multiple = tile) {
  return (size + multiple - 1) / multiple * multiple;
}

// `shape` with the last of `axes` as large as makes their product a multiple of a tile. Not for no
// axes at all.
void fill_tiles(graph::Shape& shape, const graph::Axes& axes);

struct DotShapes {
  graph::Shape lhs;
  graph::Shape rhs;
};
// Of operands whose groups have an axis each at least; operands that are padded already stay so.
DotShapes tiled(const graph::op::DotGeneral& dot, DotShapes operands);

// Where each axis of a product's result comes from.
struct DotAxis {
  std::optional<std::size_t> lhs;
  std::optional<std::size_t> rhs;  // of both: a batch axis
};
std::vector<DotAxis> result_axes(const graph::op::DotGeneral& dot, std::size_t lhs_rank,
                                 std::size_t rhs_rank);

// The padded shape of a reshape's operand that reshapes to `padded`; nothing if no such shape
// exists.
std::optional<graph::Shape> before_reshape(const graph::Shape& from, const graph::Shape& to,
                                           const graph::Shape& padded);

// Axis by axis the larger size.
graph::Shape larger(graph::Shape a, const graph::Shape& b);
bool covers(const graph::Shape& large, const graph::Shape& small);

}  // namespace trainward::stablehlo
