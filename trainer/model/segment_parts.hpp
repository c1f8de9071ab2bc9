// Finishing a segment's graph.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::trainer {

// The simplified graph of these outputs goes to `into`; or the builder's error. Parameters from
// `first_weight` on become bf16 where nothing but products in bf16 read them.
Status finish_segment(const graph::Builder& b, const std::vector<graph::Value>& outputs,
                      graph::Graph& into, std::size_t first_weight = SIZE_MAX);

}  // namespace trainward::trainer
