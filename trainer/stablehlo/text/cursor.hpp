// Takes MLIR text apart from left to right: what the parser reads a program with.
//
// The first thing that is missing, or that fail() is told, sticks with its line: from then on
// nothing is taken, at() is false for everything, and results are empty. A loop that takes a token
// each time therefore ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/type.hpp"
#include "trainer/stablehlo/text/lexer.hpp"

namespace trainward::stablehlo {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : lexer_(text) {}

  [[nodiscard]] bool ok() const { return wrong_.empty(); }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }  // "line 3: …"
  void fail(std::string_view why);  // with the line of what was taken last

  [[nodiscard]] bool at(TokenKind kind) const { return ok() && lexer_.peek().kind == kind; }
  [[nodiscard]] bool at(std::string_view text) const { return ok() && lexer_.peek().text == text; }
  bool take_if(std::string_view text);
  void expect(std::string_view text);
  // `what` is what an error says was expected.
  std::string_view take(TokenKind kind, std::string_view what);

  std::int64_t whole();
  std::vector<std::int64_t> numbers();      // "[0, 1]"
  std::int64_t typed_whole();               // "2 : i32"
  std::vector<std::int64_t> sizes_array();  // "array<i64: 1, 128>"
  graph::Type type();

 private:
  void expected(std::string_view what);
  void advance();

  Lexer lexer_;
  std::size_t line_ = 1;
  std::string wrong_;
};

// "tensor<8x128xf32>"; nothing when it is dynamic, of another element, empty, or not to be counted.
std::optional<graph::Type> read_tensor(std::string_view text);

}  // namespace trainward::stablehlo
