// The tokens as a parser meets them, one after the other, and the errors it makes at the current
// one. The tokens must outlive the stream and end with one of kind `end`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/jinja/template_lexer.hpp"

namespace trainward::trainer::jinja {

class TokenStream {
 public:
  explicit TokenStream(const std::vector<Token>& tokens) : tokens_(tokens) {}

  const Token& now() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  int line() const { return now().line; }

  bool at(TokenKind kind) const { return now().kind == kind; }
  bool at_sign(std::string_view sign) const { return at(TokenKind::sign) && now().text == sign; }
  bool at_name(std::string_view name) const { return at(TokenKind::name) && now().text == name; }

  const Token& take() {
    const Token& token = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool take_sign(std::string_view sign) { return at_sign(sign) && (take(), true); }
  bool take_name(std::string_view name) { return at_name(name) && (take(), true); }

  Status expect(TokenKind kind, std::string_view shown) {
    if (!at(kind)) return expected(shown);
    take();
    return {};
  }
  Status expect_sign(std::string_view sign) {
    return take_sign(sign) ? Status() : Status(expected("'" + std::string(sign) + "'"));
  }
  Result<std::string> expect_name() {
    if (!at(TokenKind::name)) return expected("a name");
    return take().text;
  }

  tl::unexpected<Error> expected(std::string_view what) const {
    return wrong(fmt::format("{} where {} belongs", shown(), what));
  }
  tl::unexpected<Error> wrong(std::string what) const {
    return fail(ErrorKind::usage, std::move(what), line_name(line()));
  }
  tl::unexpected<Error> unsupported(std::string_view construct) const {
    return wrong(fmt::format("{} is not supported", construct));
  }

 private:
  std::string shown() const {
    switch (now().kind) {
      case TokenKind::data:
        return "text";
      case TokenKind::print_begin:
        return "{{";
      case TokenKind::print_end:
        return "}}";
      case TokenKind::block_begin:
        return "{%";
      case TokenKind::block_end:
        return "%}";
      case TokenKind::end:
        return "the end of the template";
      default:
        return "'" + now().text + "'";
    }
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace trainward::trainer::jinja
