// Reads a file of crash rules onto a list of rules that is there already.
//
// What is read but no longer means anything comes back as warnings, each with its place.
//
// An entry whose id exists changes the keys it names and keeps its place; a new one needs id, class
// and match. Afterwards the order is: benign rules, new rules of this file, rules that were there.
// Patterns of a `trusted` text are not tried out (the built-in ones are, by a test).
// Failure: one Error; `where` is file:line:column of the first problem, the hint names the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/evidence/rules/rule.hpp"

namespace trainward::rules {

struct RuleList {
  std::vector<Rule> rules;
  std::vector<std::string> warnings;
};

Result<RuleList> read_rules(std::string_view text, std::string_view file, std::vector<Rule> base,
                            bool trusted = false);

}  // namespace trainward::rules
