// Reverse-mode differentiation at build time: the gradient becomes more nodes of the same graph.
//
// Given values y_i with cotangents c_i (same types), returns for each w in `wrt` the sum over i of
// c_i · dy_i/dw; zeros when nothing depends on w. Values marked with Builder::hold() count as
// constants. Ties: max(a, b) passes the gradient to b when a == b (so ReLU as max(x, 0) has slope 0
// at 0); a maximum reduction passes it to every element that attains it. Errors stick in the
// builder.
#pragma once

#include <span>
#include <vector>

#include "trainer/graph/builder.hpp"

namespace trainward::graph {

std::vector<Value> differentiate(Builder& builder, std::span<const Value> outputs,
                                 std::span<const Value> cotangents, std::span<const Value> wrt);

// The gradient of a scalar f32 loss.
std::vector<Value> differentiate(Builder& builder, Value loss, std::span<const Value> wrt);

}  // namespace trainward::graph
