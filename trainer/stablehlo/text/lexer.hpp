// MLIR text as tokens, one after the other; white space and // comments lie between them.
//
// A token's text is a view of the text read. Any bytes will do: what begins no token is one of kind
// `bad`. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace trainward::stablehlo {

enum class TokenKind {
  end,
  value,      // %0, %arg1
  symbol,     // @main
  attribute,  // #stablehlo.gather
  block,      // ^bb0
  word,       // stablehlo.add, dims, i32
  string,     // "stablehlo.gather", with its quotes; no escapes
  number,     // -12, 1.5e-7, 0x7F800000
  type,       // tensor<8x128xf32>, whole
  mark,       // ( ) { } [ ] < > : , = and ->
  bad,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { advance(); }

  [[nodiscard]] const Token& peek() const { return next_; }
  [[nodiscard]] std::size_t line() const { return line_; }  // of the token that comes next
  void advance();

 private:
  void skip_space();
  [[nodiscard]] Token scan() const;

  std::string_view rest_;
  Token next_;
  std::size_t line_ = 1;
};

}  // namespace trainward::stablehlo
