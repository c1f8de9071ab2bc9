// The tree of a template: expressions that have a value, statements that write text. Plain data,
// made by the parser (parser.hpp), read by the rendering. Trees are owned by the template and never
// change.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/chat/jinja/functions.hpp"
#include "trainer/chat/jinja/value.hpp"

namespace trainward::trainer::jinja {

struct Expression;
using Part = std::unique_ptr<Expression>;  // may be null where it may be left out

struct Parameters {
  std::vector<Part> positional;
  std::vector<std::pair<std::string, Part>> named;
};

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct SequenceLiteral {
  Sequence::Kind kind = Sequence::Kind::list;
  std::vector<Part> items;
};
struct MappingLiteral {
  std::vector<std::pair<Part, Part>> entries;
};
struct Member {  // of.name
  Part of;
  std::string name;
};
struct Index {  // of[key]
  Part of;
  Part key;
};
struct Slice {  // of[from:to:step]
  Part of, from, to, step;
};
struct Negation {  // -operand
  Part operand;
};
struct Affirmation {  // +operand
  Part operand;
};
struct Not {
  Part operand;
};
enum class Operator { add, subtract, multiply, divide, floor_divide, remainder, power };
struct Arithmetic {
  Operator op = Operator::add;
  Part left, right;
};
struct Concatenation {  // a ~ b ~ c
  std::vector<Part> parts;
};
enum class Relation { equal, unequal, less, at_most, greater, at_least, in, not_in };
struct Comparison {  // a < b < c
  Part first;
  std::vector<std::pair<Relation, Part>> rest;
};
struct Logic {
  bool both = true;  // and, or
  Part left, right;
};
struct Conditional {  // then if condition else otherwise
  Part then, condition, otherwise;
};
struct Call {
  Part callee;
  Parameters parameters;
};
struct Filtered {  // of | filter(...)
  Part of;         // null: the text of a {% set %} block
  const FilterEntry* filter = nullptr;
  Parameters parameters;
};
struct Tested {  // of is test(...)
  Part of;
  const TestEntry* test = nullptr;
  Parameters parameters;
  bool negated = false;
};

struct Expression {
  int line = 1;
  int depth = 1;  // of the tree from here
  std::variant<Literal, Name, SequenceLiteral, MappingLiteral, Member, Index, Slice, Negation,
               Affirmation, Not, Arithmetic, Concatenation, Comparison, Logic, Conditional, Call,
               Filtered, Tested>
      is;
};

struct Statement;
using Body = std::vector<Statement>;

// What a value is given to: a name, several (of one item each), or a member of a namespace.
struct Target {
  std::vector<std::string> names;
  bool several = false;
  std::string member;  // not empty: of the namespace names[0]
};

struct Data {
  Text text;
};
struct Print {
  Part value;
};
struct For {
  Target target;
  Part items;
  Part condition;  // may be null
  Body body;
  Body otherwise;
};
struct If {
  std::vector<std::pair<Part, Body>> branches;
  Body otherwise;
};
struct Set {
  Target target;
  Part value;
};
struct SetBlock {
  Target target;
  Part filters;  // may be null: a chain of filters whose innermost `of` is null
  Body body;
};
struct Macro {
  std::string name;
  std::vector<std::pair<std::string, Part>> parameters;  // with their defaults, or null
  Body body;
};
struct DefineMacro {
  std::unique_ptr<const Macro> macro;
};
struct Break {};
struct Continue {};
struct Generation {
  Body body;
};

struct Statement {
  int line = 1;
  std::variant<Data, Print, For, If, Set, SetBlock, DefineMacro, Break, Continue, Generation> is;
};

}  // namespace trainward::trainer::jinja
