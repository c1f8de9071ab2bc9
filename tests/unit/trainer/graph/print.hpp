// A graph as text, one line a node:
//
//   %0 = parameter name=x : f32[8,128]
//   %2 = dot_general %0, %1 batch=[]x[] contract=[1]x[1] : f32[8,64]
//   return %2
//
// Two graphs print equally exactly when they are equal (held marks included, as "held"); parse.hpp
// reads them back.
#pragma once

#include <string>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::graph {

std::string print(const Graph& graph);

// One node's line, and the last one, without the line end.
std::string print(const Node& node, Value value);
std::string print_outputs(const std::vector<Value>& outputs);

}  // namespace trainward::graph
