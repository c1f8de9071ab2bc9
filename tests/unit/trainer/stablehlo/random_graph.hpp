// Graphs drawn from a seed: every operation, sizes that fit tiles and sizes that do not.
#pragma once

#include "graph/reference.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo::test {

// All values stay small; i32 parameters are ids of rows below `id_limit`, some of them outside any
// table. With `sums_over_devices` op::AllReduce over two occurs too.
inline constexpr std::int64_t id_limit = 12;
graph::Graph random_graph(graph::test::Draw& draw, bool sums_over_devices);

}  // namespace trainward::stablehlo::test
