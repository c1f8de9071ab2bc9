#include "trainer/stablehlo/text/lexer.hpp"

#include <algorithm>

namespace trainward::stablehlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
bool in_value(char c) { return in_name(c) || c == '-'; }

template <typename Test>
std::size_t run_of(std::string_view text, std::size_t from, Test test) {
  const auto* end = std::find_if_not(text.begin() + from, text.end(), test);
  return static_cast<std::size_t>(end - text.begin());
}

// How long the number is that `text` begins with; 0: it begins with none.
std::size_t number_size(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.starts_with("0x")) {
    const std::size_t end = run_of(text, 2, [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
    return end > 2 ? end : 0;
  }
  std::size_t end = run_of(text, sign, is_digit);
  if (end == sign) return 0;
  if (end >= text.size() || text[end] != '.') return end;
  end = run_of(text, end + 1, is_digit);
  if (end >= text.size() || (text[end] != 'e' && text[end] != 'E')) return end;
  const std::size_t exponent_sign =
      end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 1 : 0;
  const std::size_t after = run_of(text, end + 1 + exponent_sign, is_digit);
  return after > end + 1 + exponent_sign ? after : end;
}

}  // namespace

void Lexer::advance() {
  rest_.remove_prefix(next_.text.size());
  skip_space();
  next_ = scan();
}

void Lexer::skip_space() {
  while (!rest_.empty()) {
    const char c = rest_[0];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (c == '\n') ++line_;
      rest_.remove_prefix(1);
    } else if (rest_.starts_with("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else {
      return;
    }
  }
}

Token Lexer::scan() const {
  if (rest_.empty()) return {};
  const auto token = [&](TokenKind kind, std::size_t size) {
    return Token{kind, rest_.substr(0, size)};
  };
  const auto prefixed = [&](TokenKind kind, std::size_t end) {
    return end > 1 ? token(kind, end) : token(TokenKind::bad, 1);
  };
  switch (rest_[0]) {
    case '%':
      return prefixed(TokenKind::value, run_of(rest_, 1, in_value));
    case '@':
      return prefixed(TokenKind::symbol, run_of(rest_, 1, in_value));
    case '#':
      return prefixed(TokenKind::attribute, run_of(rest_, 1, in_name));
    case '^':
      return prefixed(TokenKind::block, run_of(rest_, 1, in_name));
    case '"': {
      const std::size_t end = rest_.find_first_of("\"\\\n", 1);
      const bool closed = end != std::string_view::npos && rest_[end] == '"';
      return closed ? token(TokenKind::string, end + 1) : token(TokenKind::bad, 1);
    }
    default:
      break;
  }
  if (const std::size_t size = number_size(rest_); size > 0) return token(TokenKind::number, size);
  if (rest_.starts_with("tensor<")) {
    const std::size_t end = rest_.find_first_of(">\n");
    const bool closed = end != std::string_view::npos && rest_[end] == '>';
    return closed ? token(TokenKind::type, end + 1) : token(TokenKind::bad, 1);
  }
  if (is_letter(rest_[0])) return token(TokenKind::word, run_of(rest_, 1, in_name));
  if (rest_.starts_with("->")) return token(TokenKind::mark, 2);
  constexpr std::string_view marks = "(){}[]<>:,=";
  return token(marks.find(rest_[0]) == std::string_view::npos ? TokenKind::bad : TokenKind::mark,
               1);
}

}  // namespace trainward::stablehlo
