// What stands between operands, from the loosest to the tightest; operands are in
// operand_parser.cpp.
#include "trainer/chat/jinja/expression_parser.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "trainer/chat/jinja/expression_node.hpp"

namespace trainward::trainer::jinja {
namespace {

constexpr int max_nesting = 200;

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

}  // namespace trainward::trainer::jinja
