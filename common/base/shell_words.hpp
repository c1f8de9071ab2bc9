// A command written as one text, in words: quotes and backslashes as a POSIX shell reads them, and
// nothing else of a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward {

struct ShellWords {
  std::vector<std::string> words;
  // The first character, outside quotes, that a shell would obey and we do not: one of |&;<>()$`*?[
  // or a line end, ~ and # before a word; 0 if not found. It stays in its word unchanged.
  char obeyed = 0;
};

// Kind usage: a quote that is never closed, a backslash at the end.
Result<ShellWords> split_words(std::string_view text);

}  // namespace trainward
