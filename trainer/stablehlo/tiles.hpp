// The rule of tiles: the hardware computes in tiles of 32 x 32, and has long been wrong about the
// rest of tiles that are not full.
//
// In every product the sizes contracted, free in the left and free in the right operand each
// multiply to a multiple of 32; reduced axes among an operand's last two are multiples of 32; and
// no parameter, output, reduction or sum over devices is of rank 0.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

inline constexpr std::int64_t tile = 32;

// Kind usage, and the first violation: "matmul inner dimension 48 is not a multiple of the tile
// size 32 (node %12)".
Status check_tiles(const graph::Graph& graph);

}  // namespace trainward::stablehlo
