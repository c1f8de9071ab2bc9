// The head's graph in two, so that the blocks' backward on a device need not wait for the gradients
// of the head's own parameters. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::trainer {

struct HeadParts {
  graph::Graph input;  // (…, x, parameters…) -> (loss, dx, kept…)
  graph::Graph
      parameters;  // (…, x, parameters…, kept…) -> gradients of the parameters…; may be none
};

// What the second part has of the first: the products, which are as large as the logits; or
// nothing, so that it makes them again.
enum class Keeping { products, nothing };

// `head`: (…, x, parameters…) -> (loss, dx, gradients of the parameters…).
HeadParts split_head(const graph::Graph& head, Keeping keeping = Keeping::products);

}  // namespace trainward::trainer
