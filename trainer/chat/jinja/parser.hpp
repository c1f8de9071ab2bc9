// Tokens to the tree of a template.
//
// In: the tokens of one template (lexer.hpp). Out: its statements, and whether {% generation %} is
// among them. Errors: usage, with the line in `where`: for an invalid template, and by name for
// Jinja features that prompts do without: include, import, extends, block, call, filter blocks,
// autoescape, with, do, recursive loops, * and ** in calls, filters, tests and macros not at the
// top. Pure.
#pragma once

#include <vector>

#include "trainer/chat/jinja/syntax.hpp"
#include "trainer/chat/jinja/template_lexer.hpp"

namespace trainward::trainer::jinja {

struct Tree {
  Body body;
  bool has_generation = false;
};

Result<Tree> parse(const std::vector<Token>& tokens);

}  // namespace trainward::trainer::jinja
