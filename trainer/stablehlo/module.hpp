// One program for a machine that runs StableHLO: a graph, its name, and what that machine must
// know.
//
// Plain data, owned by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::stablehlo {

struct Module {
  std::string name;  // [a-z][a-z0-9_]*, e.g. "block_forward"
  std::int64_t replicas =
      1;  // devices that run it together; op::AllReduce sums over groups of them
  graph::Graph graph;
  // Per output the parameter whose buffer it may take over, which is of the same type and taken
  // over once (tf.aliasing_output). Empty: none is.
  std::vector<std::optional<std::size_t>> reuses;
  // Products of f32 operands are f32 throughout. Else the compiler may round the operands, as XLA's
  // does for GPUs (tf32).
  bool full_precision = false;
};

bool is_module_name(std::string_view name);

}  // namespace trainward::stablehlo
