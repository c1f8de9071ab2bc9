// Resource limits of a template, since it is an untrusted program: far above what a prompt needs,
// and far below what would delay or crash this process.
//
// A Budget counts the work of one rendering: a step for every part of the template that is
// evaluated, one more for every 64 bytes of text or every item that is made. Errors: usage. A
// value, one thread.
#pragma once

#include <cstddef>

#include "common/base/error.hpp"

namespace trainward::trainer::jinja {

inline constexpr std::size_t max_template_bytes = 256UL * 1024;
inline constexpr std::size_t max_text_bytes = 8UL * 1024 * 1024;  // of one text, and of the output
inline constexpr std::size_t max_items = 100'000;                 // of one list
inline constexpr std::size_t max_weight = 1'000'000;  // of one value, all it holds counted
inline constexpr std::size_t max_steps = 2'000'000;
inline constexpr int max_expression_depth = 150;
inline constexpr int max_statement_depth = 60;
inline constexpr int max_value_depth = 64;
inline constexpr int max_evaluation_depth = 400;  // expressions, statements and macros together

class Budget {
 public:
  Status spend(std::size_t steps) {
    used_ += steps < max_steps ? steps : max_steps;
    if (used_ <= max_steps) return {};
    return fail(ErrorKind::usage, "the template takes more steps than any prompt needs");
  }
  Status text(std::size_t bytes) {
    if (bytes > max_text_bytes) {
      return fail(ErrorKind::usage, "a text of the template grows beyond 8 MiB");
    }
    return spend(1 + bytes / 64);
  }
  Status items(std::size_t count) {
    if (count > max_items) {
      return fail(ErrorKind::usage, "a list of the template grows beyond 100,000 items");
    }
    return spend(1 + count);
  }

 private:
  std::size_t used_ = 0;
};

}  // namespace trainward::trainer::jinja
