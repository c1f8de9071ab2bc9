// Operands: names, literals and what is in parentheses, with the members, indices, calls, filters
// and tests behind them.
#include <algorithm>
#include <string>
#include <utility>

#include "trainer/chat/jinja/expression_node.hpp"
#include "trainer/chat/jinja/expression_parser.hpp"

namespace trainward::trainer::jinja {

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
