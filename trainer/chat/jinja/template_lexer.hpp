// A template cut into tokens, with the white space around tags treated as chat templates expect it:
// the line end after a block tag or comment is dropped (trim_blocks), white space between the start
// of a line and such a tag too (lstrip_blocks), and one line end at the end of the template. `-`
// and `+` inside a tag say otherwise, for that side.
//
// In: the source. Out: its tokens with their lines, the last of kind `end`. Errors: usage, with the
// line in `where` ("line 12"). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer::jinja {

enum class TokenKind {
  data,
  print_begin,
  print_end,
  block_begin,
  block_end,
  name,
  text,
  integer,
  real,
  sign,
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  int line = 1;
  std::string text;  // data, names, texts with their escapes read, signs such as "=="
  std::int64_t integer = 0;
  double real = 0;
};

Result<std::vector<Token>> tokens_of(std::string_view source);

// "line 12"
std::string line_name(int line);

}  // namespace trainward::trainer::jinja
