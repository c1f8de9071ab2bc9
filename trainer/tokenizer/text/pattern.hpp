// A regular expression of a tokenizer, over PCRE2 with Unicode classes.
//
// In: the pattern as the file has it, written for Oniguruma, which Hugging Face's library uses.
// Where that dialect and PCRE2's mean different things by the same text (\h, nested sets, (?m), …)
// the pattern is refused and the construct named; `^` and `$` match at lines, as there. One
// difference is left: U+180E counts as \s here.
// Bounded: patterns up to 64 KiB, steps, memory and stack of a match. Errors: usage, when the
// pattern is refused; corrupt, when a match on this text runs into a limit.
// find() uses scratch memory of the object, which therefore belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const Span&, const Span&) = default;
};

class Pattern {
 public:
  // `literal`: the text itself is looked for.
  static Result<Pattern> compile(std::string_view pattern, bool literal = false);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  // The first match that begins at `from` or later; `text` is valid UTF-8.
  Result<std::optional<Span>> find(std::string_view text, std::size_t from);

 private:
  struct Compiled;
  explicit Pattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

// What in `pattern` the two dialects disagree about; empty when nothing.
std::string dialect_difference(std::string_view pattern);

}  // namespace trainward::trainer
