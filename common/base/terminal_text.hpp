// Text of several lines from elsewhere, on its way to a terminal: as clean() makes it
// safe, but with its lines and tabs. Colours and other sequences are left out; a carriage return,
// with which a progress bar is drawn over, is a line end.
#pragma once

#include <string>
#include <string_view>

namespace trainward {

// In pieces as they come: a character or sequence that is cut waits for the next one.
class TerminalText {
 public:
  std::string take(std::string_view piece);
  std::string rest();  // after the last piece

 private:
  std::string shown(std::string_view text, bool last);

  std::string held_;  // at most some 1,000 bytes
};

std::string clean_lines(std::string_view text);

}  // namespace trainward
