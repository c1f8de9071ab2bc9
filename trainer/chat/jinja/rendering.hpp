// One rendering of a template: its names and their values, the text written so far.
//
// In: the tree, which must outlive it, and the variables. Out: text with its marks. Errors: usage,
// with the line in `where`: what the template refuses by raise_exception, what it asks of values
// that have no such thing, what is too much (limits.hpp). Reads no clock: strftime_now is the
// variable date_string, or else a fixed day (date.hpp). One use, one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/jinja/parser.hpp"

namespace trainward::trainer::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

class Rendering {
 public:
  Rendering(const Variables& variables, Budget& budget) : variables_(variables), budget_(budget) {}

  Result<Text> run(const Tree& tree);

 private:
  enum class Flow { on, leave_loop, next_round };
  using Names = std::vector<std::pair<std::string, Value>>;
  struct Scope {
    Names names;
    Scope* outer = nullptr;
  };

  // Statements: what is written goes to `out_`, with `mark_` on top of its own marks.
  Result<Flow> run(const Body& body);
  Result<Flow> run(const Statement& statement);
  Status write(const Text& text);
  Result<Text> captured(const Body& body);  // what the body writes
  Result<Flow> loop(const For& statement);
  Result<Sequence> loop_items(const For& statement);
  Result<Flow> choose(const If& statement);
  Status set_block(const SetBlock& statement);
  Status assign(const Target& target, Value value);
  void assign(std::string_view name, Value value);

  // Expressions.
  Result<Value> value(const Part& part);
  Result<Value> value(const Literal& part) { return part.value; }
  Result<Value> value(const Name& part);
  Result<Value> value(const SequenceLiteral& part);
  Result<Value> value(const MappingLiteral& part);
  Result<Value> value(const Member& part);
  Result<Value> value(const Index& part);
  Result<Value> value(const Slice& part);
  Result<Value> value(const Negation& part);
  Result<Value> value(const Affirmation& part);
  Result<Value> value(const Not& part);
  Result<Value> value(const Arithmetic& part);
  Result<Value> value(const Concatenation& part);
  Result<Value> value(const Comparison& part);
  Result<Value> value(const Logic& part);
  Result<Value> value(const Conditional& part);
  Result<Value> value(const Call& part);
  Result<Value> value(const Filtered& part);
  Result<Value> value(const Tested& part);
  Result<bool> holds(Relation relation, const Value& left, const Value& right);
  Result<Arguments> arguments(const Parameters& parameters);
  Result<Value> member(const Value& of, std::string_view name);
  Result<Value> call(const Value& callee, const Arguments& arguments);
  Result<Value> call_macro(const Macro& macro, const Arguments& arguments);
  Result<Value> call_function(Function::Id function, const Arguments& arguments);

  const Variables& variables_;
  Budget& budget_;
  Scope top_;
  Scope* scope_ = &top_;
  std::vector<Names> namespaces_;
  const Text* block_text_ = nullptr;  // what the filters of a {% set %} block are for
  Text* out_ = nullptr;
  Mark mark_ = of_template;
  int depth_ = 0;
};

// a op b, and of[from:to:step]: plain functions of values.
Result<Value> calculated(Operator op, const Value& left, const Value& right, Budget& budget);
Result<Value> negated(const Value& operand);
Result<Value> sliced(const Value& of, const Value& from, const Value& to, const Value& step,
                     Budget& budget);

}  // namespace trainward::trainer::jinja
