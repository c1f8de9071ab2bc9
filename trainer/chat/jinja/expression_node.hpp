// Nodes of an expression's tree, none of which is too deep.
//
// In: what a node is, and the depth of the deepest below it. Out: the node, one deeper. Errors:
// usage, with the line.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/error.hpp"
#include "trainer/chat/jinja/limits.hpp"
#include "trainer/chat/jinja/syntax.hpp"
#include "trainer/chat/jinja/template_lexer.hpp"

namespace trainward::trainer::jinja {

inline int depth_of(const Part& part) { return part ? part->depth : 0; }
inline int depth_of(const Parameters& parameters) {
  int depth = 0;
  for (const Part& part : parameters.positional) depth = std::max(depth, depth_of(part));
  for (const auto& [name, part] : parameters.named) depth = std::max(depth, depth_of(part));
  return depth;
}

// A node above others, the deepest of which is `below` deep.
template <typename Kind>
Result<Part> node(int line, int below, Kind kind) {
  if (below >= max_expression_depth) {
    return fail(ErrorKind::usage, "an expression is made of more than 150 parts inside each other",
                line_name(line));
  }
  auto made = std::make_unique<Expression>();
  made->line = line;
  made->depth = below + 1;
  made->is = std::move(kind);
  return made;
}

}  // namespace trainward::trainer::jinja
