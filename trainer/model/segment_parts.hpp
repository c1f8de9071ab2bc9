// What the makers of segments share: adding the model's parameters to a graph, and finishing it.
#pragma once

#include <vector>

#include "common/error.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

// A parameter of the graph for each of these places in the table, in that order.
std::vector<graph::Value> add_parameters(graph::Builder& b, const ParameterTable& table,
                                         const std::vector<std::size_t>& which);

// The simplified graph of these outputs goes to `into`; or the builder's error. Parameters from
// `first_weight` on become bf16 where nothing but products in bf16 read them.
Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, std::size_t first_weight = SIZE_MAX);

}  // namespace trainward::trainer
