// The derivative of each operation: what one input receives from the result's cotangent.
#pragma once

#include "trainer/graph/builder.hpp"

namespace trainward::graph {

// `node` computes `value`; returns the contribution to the cotangent of node.inputs[input], of that
// input's type, or an invalid Value when the input has no derivative (ids, predicates).
Value gradient_of_input(Builder& builder, const Node& node, Value value, std::size_t input,
                        Value cotangent);

}  // namespace trainward::graph
