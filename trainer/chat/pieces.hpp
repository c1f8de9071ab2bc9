// Joined pieces: neighbours of one kind become one piece, empty ones are dropped. A value, no
// errors.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {

class Pieces {
 public:
  void add(std::string_view text, bool answer, bool markup) {
    if (text.empty()) return;
    if (!pieces_.empty() && pieces_.back().answer == answer && pieces_.back().markup == markup) {
      pieces_.back().text += text;
    } else {
      pieces_.push_back({std::string(text), answer, markup});
    }
  }
  void markup(std::string_view text) { add(text, false, true); }
  void people(std::string_view text) { add(text, false, false); }

  std::vector<PromptPiece> take() { return std::move(pieces_); }

 private:
  std::vector<PromptPiece> pieces_;
};

}  // namespace trainward::trainer
