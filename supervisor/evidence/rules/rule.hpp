// One crash rule, and the words its fields may hold.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/decide/core/cause.hpp"

namespace trainward::rules {

// What a line of a rule is worth, strongest first.
enum class Strength {
  cause,    // names why it failed
  symptom,  // shows a failure and suggests its kind: the type of an exception, a killed process
  cascade,  // what others see of a failure that lies elsewhere: a closed connection, a summary
  hint,     // says nothing by itself; names the kind when something else shows that it failed
};

std::string_view to_string(Strength strength);

// What a rule's lines mean.
enum class Kind {
  benign,    // looks bad and means nothing: the line is taken away
  mask,      // words that mean nothing: the rest of the line is searched for faults without them
  fault,     // a class of crash
  finished,  // the work was done: what stood before it was overcome
  progress,  // training goes on; some of them and what stood before was overcome
  advice,    // the line itself says that the program goes on: a fault it names is only a hint
};

// What of a line the pattern is searched in.
enum class Scope {
  line,       // anywhere
  exception,  // only a line "SomeError: text", from the name on, whatever prefix stands before it
  message,    // only a line that is no such line
};

struct Rule {
  std::string id;  // [a-z0-9-]{1,64}
  Kind kind = Kind::fault;
  core::Cause cause = core::Cause::none;  // of a fault
  std::vector<std::string> match;         // RE2 syntax; one of them is enough
  Scope scope = Scope::line;
  Strength strength = Strength::cause;
  std::string advice;
  bool enabled = true;
};

// What `class:` of a rules file may say: benign, the causes a rule may name (core/cause.hpp), and
// the other kinds of line.
std::span<const std::string_view> line_classes();
// The word for a rule of this kind and cause, and back.
std::string_view line_class(Kind kind, core::Cause cause);
void set_line_class(Rule& rule, std::string_view word);

}  // namespace trainward::rules
