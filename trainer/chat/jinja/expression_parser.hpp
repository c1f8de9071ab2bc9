// Expressions, by precedence, as Jinja reads them: from loosest to tightest `if else`, or, and,
// not, comparisons, + and -, ~, * / // %, **, signs, then . [] () | and `is` behind a primary.
//
// In: the stream, at an expression. Out: the tree, the stream behind it. Errors: usage, with the
// line.
#pragma once

#include <utility>

#include "trainer/chat/jinja/syntax.hpp"
#include "trainer/chat/jinja/token_stream.hpp"

namespace trainward::trainer::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  Result<Part> expression(bool with_condition = true);
  // Several with commas between them are a tuple.
  Result<Part> expressions(bool with_condition = true);
  // `| filter | filter` after the text of a block; null if absent.
  Result<Part> filters_of_block();

 private:
  using Rule = Result<Part> (ExpressionParser::*)();

  Result<Part> either();
  Result<Part> both();
  Result<Part> negation();
  Result<Part> comparison();
  Result<Part> sum();
  Result<Part> concatenation();
  Result<Part> product();
  Result<Part> power();
  Result<Part> with_sign(bool with_filters);
  Result<Part> signed_with_filters() { return with_sign(true); }
  Result<Part> primary();
  Result<Part> parenthesised();
  Result<Part> list();
  Result<Part> mapping();
  Result<Part> postfixed(Part of);
  Result<Part> filtered(Part of);
  Result<Part> subscript(Part of);
  Result<Part> slice(Part of, Part from);
  Result<Part> one_filter(Part of);
  Result<Part> one_test(Part of);
  Result<Part> call(Part callee);
  Result<Parameters> parameters();
  Result<Part> arithmetic(Rule operand,
                          std::initializer_list<std::pair<std::string_view, Operator>>);
  Result<Part> logic(Rule operand, std::string_view word, bool both);

  TokenStream& stream_;
  int nesting_ = 0;  // calls of this parser inside each other
};

}  // namespace trainward::trainer::jinja
