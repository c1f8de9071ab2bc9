// The type of an operation's result, from the operation and its inputs' types.
//
// Errors (usage) name the operation and the types: "add: operands f32[2,3] and f32[3,2] differ".
#pragma once

#include <span>

#include "common/base/error.hpp"
#include "trainer/graph/op.hpp"

namespace trainward::graph {

Result<Type> infer(const Op& op, std::span<const Type> inputs);

// One operation's part of infer(), in a file of its own for its length.
Result<Type> infer_dot_general(const op::DotGeneral& dot, const Type& lhs, const Type& rhs);

}  // namespace trainward::graph
