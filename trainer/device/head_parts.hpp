// The head's graph in two, so that the blocks' backward on a device need not wait for the gradients
// of the head's own parameters. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::trainer {

struct HeadParts {
  graph::Graph input;       // (ids, x, parameters…) -> (loss, dx, kept…)
  graph::Graph parameters;  // (ids, x, parameters…, kept…) -> gradients of the parameters…
};

// `head`: (ids, x, parameters…) -> (loss, dx, gradients of the parameters…).
HeadParts split_head(const graph::Graph& head);

}  // namespace trainward::trainer
