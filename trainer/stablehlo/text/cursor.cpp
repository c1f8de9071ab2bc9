#include "trainer/stablehlo/text/cursor.hpp"

#include <fmt/format.h>

#include "common/base/number_in.hpp"
#include "trainer/stablehlo/text/literal.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Element;

constexpr std::size_t most_axes = 16;
constexpr std::size_t longest_quote = 60;

// In errors: short, and of characters that print.
std::string quoted(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  std::string text;
  for (const char c : token.text.substr(0, longest_quote)) text += c >= ' ' && c <= '~' ? c : '?';
  return fmt::format("'{}'", text);
}

}  // namespace

std::optional<graph::Type> read_tensor(std::string_view text) {
  if (!text.starts_with("tensor<") || !text.ends_with('>')) return std::nullopt;
  text = text.substr(7, text.size() - 8);
  graph::Type type;
  for (std::size_t x = text.find('x'); x != std::string_view::npos; x = text.find('x')) {
    const auto size = number_in<std::int64_t>(text.substr(0, x));
    if (!size || *size <= 0 || type.shape.size() == most_axes) return std::nullopt;
    type.shape.push_back(*size);
    text.remove_prefix(x + 1);
  }
  for (const Element element : {Element::f32, Element::bf16, Element::i32, Element::pred}) {
    if (text != element_name(element)) continue;
    type.element = element;
    return type;
  }
  return std::nullopt;
}

void Cursor::fail(std::string_view why) {
  if (ok()) wrong_ = fmt::format("line {}: {}", line_, why);
}

void Cursor::expected(std::string_view what) {
  line_ = lexer_.line();
  fail(fmt::format("expected {}, not {}", what, quoted(lexer_.peek())));
}

void Cursor::advance() {
  line_ = lexer_.line();
  lexer_.advance();
}

bool Cursor::take_if(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

void Cursor::expect(std::string_view text) {
  if (!take_if(text)) expected(fmt::format("'{}'", text));
}

std::string_view Cursor::take(TokenKind kind, std::string_view what) {
  if (!at(kind)) {
    expected(what);
    return {};
  }
  const std::string_view text = lexer_.peek().text;
  advance();
  return text;
}

std::int64_t Cursor::whole() {
  const auto number =
      at(TokenKind::number) ? number_in<std::int64_t>(lexer_.peek().text) : std::nullopt;
  if (!number) {
    expected("a whole number");
    return 0;
  }
  advance();
  return *number;
}

std::vector<std::int64_t> Cursor::numbers() {
  std::vector<std::int64_t> all;
  expect("[");
  if (take_if("]")) return all;
  do all.push_back(whole());
  while (take_if(","));
  expect("]");
  return all;
}

std::int64_t Cursor::typed_whole() {
  const std::int64_t number = whole();
  expect(":");
  expect("i32");
  return number;
}

std::vector<std::int64_t> Cursor::sizes_array() {
  std::vector<std::int64_t> all;
  expect("array");
  expect("<");
  expect("i64");
  if (take_if(":")) {
    do all.push_back(whole());
    while (take_if(","));
  }
  expect(">");
  return all;
}

graph::Type Cursor::type() {
  const auto type = at(TokenKind::type) ? read_tensor(lexer_.peek().text) : std::nullopt;
  if (!type) {
    expected("a static tensor of f32, bf16, i32 or i1");
    return {};
  }
  advance();
  return *type;
}

}  // namespace trainward::stablehlo
