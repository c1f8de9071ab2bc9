// What a program said last: for an end that no rule explains, the best there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/evidence/rules/log_matcher.hpp"

namespace trainward::rules {

struct LastWords {
  std::string line;              // printable, at most 500 bytes
  std::int64_t line_number = 0;  // from 1
};

// The last line that holds a word and is not chatter: a progress bar, a step, a benign line. Of a
// long log only the last 200 lines are looked at. Nothing if not found.
std::optional<LastWords> last_words(const LogMatcher& matcher, std::string_view text);

}  // namespace trainward::rules
