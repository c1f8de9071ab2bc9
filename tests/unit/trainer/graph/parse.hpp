// Reads back what print() writes.
//
// Strict: every line must be exactly the line print() would write, so parse() and print() are each
// other's inverse. Bounded in nodes and sizes; any bytes will do. Pure.
// Errors (corrupt) name the line and what is wrong with it.
#pragma once

#include <string_view>

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::graph {

// `where` names the text in errors.
Result<Graph> parse(std::string_view text, std::string_view where);

}  // namespace trainward::graph
