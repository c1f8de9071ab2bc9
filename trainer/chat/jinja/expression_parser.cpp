#include "trainer/chat/jinja/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace trainward::trainer::jinja {
namespace {

constexpr int max_nesting = 200;

int depth_of(const Part& part) { return part ? part->depth : 0; }
int depth_of(const Parameters& parameters) {
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

class Nested {
 public:
  explicit Nested(int& depth) : depth_(depth) { ++depth_; }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& depth_;
};

}  // namespace

Result<Part> ExpressionParser::expression(bool with_condition) {
  const Nested nested(nesting_);
  if (nesting_ > max_nesting)
    return stream_.wrong("expressions stand more than 200 deep in each other");
  auto then = either();
  while (then && with_condition && stream_.at_name("if")) {
    const int line = stream_.take().line;
    auto condition = either();
    if (!condition) return condition;
    Part otherwise;
    if (stream_.take_name("else")) {
      auto rest = expression();
      if (!rest) return rest;
      otherwise = std::move(*rest);
    }
    const int depth = std::max({depth_of(*then), depth_of(*condition), depth_of(otherwise)});
    then = node(line, depth,
                Conditional{std::move(*then), std::move(*condition), std::move(otherwise)});
  }
  return then;
}

Result<Part> ExpressionParser::expressions(bool with_condition) {
  const int line = stream_.line();
  auto first = expression(with_condition);
  if (!first || !stream_.at_sign(",")) return first;
  SequenceLiteral tuple{Sequence::Kind::tuple, {}};
  int depth = depth_of(*first);
  tuple.items.push_back(std::move(*first));
  while (stream_.take_sign(",")) {
    const bool ends = stream_.at(TokenKind::print_end) || stream_.at(TokenKind::block_end) ||
                      stream_.at_sign(")");
    if (ends) break;
    auto item = expression(with_condition);
    if (!item) return item;
    depth = std::max(depth, depth_of(*item));
    tuple.items.push_back(std::move(*item));
  }
  return node(line, depth, std::move(tuple));
}

Result<Part> ExpressionParser::logic(Rule operand, std::string_view word, bool both) {
  auto left = (this->*operand)();
  while (left && stream_.at_name(word)) {
    const int line = stream_.take().line;
    auto right = (this->*operand)();
    if (!right) return right;
    const int depth = std::max(depth_of(*left), depth_of(*right));
    left = node(line, depth, Logic{both, std::move(*left), std::move(*right)});
  }
  return left;
}

Result<Part> ExpressionParser::either() { return logic(&ExpressionParser::both, "or", false); }
Result<Part> ExpressionParser::both() { return logic(&ExpressionParser::negation, "and", true); }

Result<Part> ExpressionParser::negation() {
  if (!stream_.at_name("not")) return comparison();
  const Nested nested(nesting_);
  if (nesting_ > max_nesting) return stream_.wrong("more than 200 times not");
  const int line = stream_.take().line;
  auto operand = negation();
  if (!operand) return operand;
  const int depth = depth_of(*operand);
  return node(line, depth, Not{std::move(*operand)});
}

Result<Part> ExpressionParser::comparison() {
  static constexpr std::array<std::pair<std::string_view, Relation>, 6> signs{
      {{"==", Relation::equal},
       {"!=", Relation::unequal},
       {"<", Relation::less},
       {"<=", Relation::at_most},
       {">", Relation::greater},
       {">=", Relation::at_least}}};
  const int line = stream_.line();
  auto first = sum();
  if (!first) return first;
  Comparison made;
  int depth = depth_of(*first);
  while (true) {
    const auto* const sign = std::find_if(
        signs.begin(), signs.end(), [&](const auto& one) { return stream_.at_sign(one.first); });
    Relation relation = Relation::in;
    if (sign != signs.end()) {
      relation = sign->second;
      stream_.take();
    } else if (stream_.at_name("not") && stream_.next().kind == TokenKind::name &&
               stream_.next().text == "in") {
      relation = Relation::not_in;
      stream_.take();
      stream_.take();
    } else if (!stream_.take_name("in")) {
      break;
    }
    auto other = sum();
    if (!other) return other;
    depth = std::max(depth, depth_of(*other));
    made.rest.emplace_back(relation, std::move(*other));
  }
  if (made.rest.empty()) return first;
  made.first = std::move(*first);
  return node(line, depth, std::move(made));
}

Result<Part> ExpressionParser::arithmetic(
    Rule operand, std::initializer_list<std::pair<std::string_view, Operator>> operators) {
  auto left = (this->*operand)();
  while (left) {
    const auto* const found =
        std::find_if(operators.begin(), operators.end(),
                     [&](const auto& one) { return stream_.at_sign(one.first); });
    if (found == operators.end()) break;
    const int line = stream_.take().line;
    auto right = (this->*operand)();
    if (!right) return right;
    const int depth = std::max(depth_of(*left), depth_of(*right));
    left = node(line, depth, Arithmetic{found->second, std::move(*left), std::move(*right)});
  }
  return left;
}

Result<Part> ExpressionParser::sum() {
  return arithmetic(&ExpressionParser::concatenation,
                    {{"+", Operator::add}, {"-", Operator::subtract}});
}

Result<Part> ExpressionParser::concatenation() {
  const int line = stream_.line();
  auto first = product();
  if (!first || !stream_.at_sign("~")) return first;
  Concatenation made;
  int depth = depth_of(*first);
  made.parts.push_back(std::move(*first));
  while (stream_.take_sign("~")) {
    auto part = product();
    if (!part) return part;
    depth = std::max(depth, depth_of(*part));
    made.parts.push_back(std::move(*part));
  }
  return node(line, depth, std::move(made));
}

Result<Part> ExpressionParser::product() {
  return arithmetic(&ExpressionParser::power, {{"*", Operator::multiply},
                                               {"/", Operator::divide},
                                               {"//", Operator::floor_divide},
                                               {"%", Operator::remainder}});
}

Result<Part> ExpressionParser::power() {
  return arithmetic(&ExpressionParser::signed_with_filters, {{"**", Operator::power}});
}

Result<Part> ExpressionParser::with_sign(bool with_filters) {
  const Nested nested(nesting_);
  if (nesting_ > max_nesting)
    return stream_.wrong("expressions stand more than 200 deep in each other");
  Result<Part> made;
  if (stream_.at_sign("-") || stream_.at_sign("+")) {
    const Token& sign = stream_.take();
    auto operand = with_sign(false);
    if (!operand) return operand;
    const int depth = depth_of(*operand);
    made = sign.text == "-" ? node(sign.line, depth, Negation{std::move(*operand)})
                            : node(sign.line, depth, Affirmation{std::move(*operand)});
  } else {
    made = primary();
  }
  if (!made) return made;
  made = postfixed(std::move(*made));
  return made && with_filters ? filtered(std::move(*made)) : std::move(made);
}

Result<Part> ExpressionParser::primary() {
  const Token& token = stream_.now();
  const auto literal = [&](Value value) { return node(token.line, 0, Literal{std::move(value)}); };
  switch (token.kind) {
    case TokenKind::name:
      stream_.take();
      if (token.text == "true" || token.text == "True") return literal(Value(true));
      if (token.text == "false" || token.text == "False") return literal(Value(false));
      if (token.text == "none" || token.text == "None") return literal(Value(None{}));
      return node(token.line, 0, Name{token.text});
    case TokenKind::text: {
      std::string joined;
      while (stream_.at(TokenKind::text)) joined += stream_.take().text;
      return literal(Value(Text(joined)));
    }
    case TokenKind::integer:
      stream_.take();
      return literal(Value(token.integer));
    case TokenKind::real:
      stream_.take();
      return literal(Value(token.real));
    default:
      break;
  }
  if (stream_.at_sign("(")) return parenthesised();
  if (stream_.at_sign("[")) return list();
  if (stream_.at_sign("{")) return mapping();
  return stream_.expected("an expression");
}

Result<Part> ExpressionParser::parenthesised() {
  const int line = stream_.take().line;
  if (stream_.take_sign(")")) return node(line, 0, SequenceLiteral{Sequence::Kind::tuple, {}});
  auto inside = expressions();
  if (!inside) return inside;
  if (auto ok = stream_.expect_sign(")"); !ok) return propagate(ok);
  return inside;
}

Result<Part> ExpressionParser::list() {
  const int line = stream_.take().line;
  SequenceLiteral made;
  int depth = 0;
  while (!stream_.at_sign("]")) {
    auto item = expression();
    if (!item) return item;
    depth = std::max(depth, depth_of(*item));
    made.items.push_back(std::move(*item));
    if (!stream_.take_sign(",")) break;
  }
  if (auto ok = stream_.expect_sign("]"); !ok) return propagate(ok);
  return node(line, depth, std::move(made));
}

Result<Part> ExpressionParser::mapping() {
  const int line = stream_.take().line;
  MappingLiteral made;
  int depth = 0;
  while (!stream_.at_sign("}")) {
    auto key = expression();
    if (!key) return key;
    if (auto ok = stream_.expect_sign(":"); !ok) return propagate(ok);
    auto value = expression();
    if (!value) return value;
    depth = std::max({depth, depth_of(*key), depth_of(*value)});
    made.entries.emplace_back(std::move(*key), std::move(*value));
    if (!stream_.take_sign(",")) break;
  }
  if (auto ok = stream_.expect_sign("}"); !ok) return propagate(ok);
  return node(line, depth, std::move(made));
}

Result<Part> ExpressionParser::postfixed(Part of) {
  while (true) {
    Result<Part> next;
    if (stream_.at_sign(".") || stream_.at_sign("[")) {
      next = subscript(std::move(of));
    } else if (stream_.at_sign("(")) {
      next = call(std::move(of));
    } else {
      return of;
    }
    if (!next) return next;
    of = std::move(*next);
  }
}

Result<Part> ExpressionParser::filtered(Part of) {
  while (true) {
    Result<Part> next;
    if (stream_.at_sign("|")) {
      next = one_filter(std::move(of));
    } else if (stream_.at_name("is")) {
      next = one_test(std::move(of));
    } else if (stream_.at_sign("(")) {
      next = call(std::move(of));
    } else {
      return of;
    }
    if (!next) return next;
    of = std::move(*next);
  }
}

Result<Part> ExpressionParser::filters_of_block() {
  Part made;
  while (stream_.at_sign("|")) {
    auto next = one_filter(std::move(made));
    if (!next) return next;
    made = std::move(*next);
  }
  return made;
}

Result<Part> ExpressionParser::subscript(Part of) {
  const Token& sign = stream_.take();
  const int depth = depth_of(of);
  if (sign.text == ".") {
    if (stream_.at(TokenKind::integer)) {
      auto key = primary();
      if (!key) return key;
      return node(sign.line, std::max(depth, 1), Index{std::move(of), std::move(*key)});
    }
    auto name = stream_.expect_name();
    if (!name) return propagate(name);
    return node(sign.line, depth, Member{std::move(of), std::move(*name)});
  }
  Part key;
  if (!stream_.at_sign(":")) {
    auto read = expression();
    if (!read) return read;
    key = std::move(*read);
  }
  if (stream_.at_sign(":")) return slice(std::move(of), std::move(key));
  if (stream_.at_sign(",")) return stream_.unsupported("an index of several parts");
  if (auto ok = stream_.expect_sign("]"); !ok) return propagate(ok);
  const int below = std::max(depth, depth_of(key));
  return node(sign.line, below, Index{std::move(of), std::move(key)});
}

Result<Part> ExpressionParser::slice(Part of, Part from) {
  const int line = stream_.line();
  Slice made{std::move(of), std::move(from), {}, {}};
  for (Part* const part : {&made.to, &made.step}) {
    if (!stream_.take_sign(":")) break;
    if (stream_.at_sign(":") || stream_.at_sign("]")) continue;
    auto read = expression();
    if (!read) return read;
    *part = std::move(*read);
  }
  if (auto ok = stream_.expect_sign("]"); !ok) return propagate(ok);
  const int depth =
      std::max({depth_of(made.of), depth_of(made.from), depth_of(made.to), depth_of(made.step)});
  return node(line, depth, std::move(made));
}

Result<Part> ExpressionParser::one_filter(Part of) {
  const int line = stream_.take().line;
  auto name = stream_.expect_name();
  if (!name) return propagate(name);
  const FilterEntry* const filter = find_filter(*name);
  if (filter == nullptr) return stream_.unsupported("the filter '" + *name + "'");
  Result<Parameters> given = stream_.at_sign("(") ? parameters() : Parameters();
  if (!given) return propagate(given);
  const int depth = std::max(depth_of(of), depth_of(*given));
  return node(line, depth, Filtered{std::move(of), filter, std::move(*given)});
}

Result<Part> ExpressionParser::one_test(Part of) {
  const int line = stream_.take().line;
  const bool negated = stream_.take_name("not");
  auto name = stream_.expect_name();
  if (!name) return propagate(name);
  const TestEntry* const test = find_test(*name);
  if (test == nullptr) return stream_.unsupported("the test '" + *name + "'");
  Parameters given;
  const bool word_ends = stream_.at_name("else") || stream_.at_name("or") || stream_.at_name("and");
  if (stream_.at_sign("(")) {
    auto read = parameters();
    if (!read) return propagate(read);
    given = std::move(*read);
  } else if (stream_.at_name("is")) {
    return stream_.unsupported("a test of what a test says");
  } else if ((stream_.at(TokenKind::name) && !word_ends) || stream_.at(TokenKind::text) ||
             stream_.at(TokenKind::integer) || stream_.at(TokenKind::real) ||
             stream_.at_sign("[") || stream_.at_sign("{")) {
    // One argument without parentheses: `x is divisibleby 3`.
    auto argument = primary();
    if (!argument) return argument;
    argument = postfixed(std::move(*argument));
    if (!argument) return argument;
    given.positional.push_back(std::move(*argument));
  }
  const int depth = std::max(depth_of(of), depth_of(given));
  return node(line, depth, Tested{std::move(of), test, std::move(given), negated});
}

Result<Part> ExpressionParser::call(Part callee) {
  const int line = stream_.line();
  auto given = parameters();
  if (!given) return propagate(given);
  const int depth = std::max(depth_of(callee), depth_of(*given));
  return node(line, depth, Call{std::move(callee), std::move(*given)});
}

Result<Parameters> ExpressionParser::parameters() {
  Parameters made;
  stream_.take();
  while (!stream_.at_sign(")")) {
    if (stream_.at_sign("*") || stream_.at_sign("**")) {
      return stream_.unsupported("an argument with " + stream_.now().text);
    }
    const bool named = stream_.at(TokenKind::name) && stream_.next().kind == TokenKind::sign &&
                       stream_.next().text == "=";
    std::string name;
    if (named) {
      name = stream_.take().text;
      stream_.take();
    } else if (!made.named.empty()) {
      return stream_.wrong("an argument without a name stands behind one with a name");
    }
    auto value = expression();
    if (!value) return propagate(value);
    if (named) {
      made.named.emplace_back(std::move(name), std::move(*value));
    } else {
      made.positional.push_back(std::move(*value));
    }
    if (!stream_.take_sign(",")) break;
  }
  if (auto ok = stream_.expect_sign(")"); !ok) return propagate(ok);
  return made;
}

}  // namespace trainward::trainer::jinja
