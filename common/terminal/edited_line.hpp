// One line as it is typed: text, cursor and what was typed before. Pure: bytes in, state out.
//
// Keys: letters in UTF-8, arrows, Home, End, Delete, Backspace, Tab, Ctrl-A B C D E F H K L N P U
// W. What else a terminal may send is swallowed whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainward {

class EditedLine {
 public:
  enum class Then {
    go_on,
    accept,    // Enter
    give_up,   // Ctrl-C: this line
    end,       // Ctrl-D on an empty line
    complete,  // Tab
    clear,     // Ctrl-L
  };

  // `history`: oldest first.
  explicit EditedLine(std::vector<std::string> history = {});

  Then take(char byte);
  // Types `text` at the cursor.
  void insert(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string before_cursor() const { return text_.substr(0, cursor_); }
  // What to write to show it behind `prompt` on a terminal `width` columns wide (0: unknown): on
  // one line, cut on the left where it is too long, the cursor in its place.
  [[nodiscard]] std::string drawn(std::string_view prompt, std::size_t width) const;

 private:
  Then control(char byte);
  void escape(std::string_view sequence);
  void left();
  void right();
  void erase_left();
  void erase_right();
  void erase_word();
  void recall(std::size_t index);

  std::string text_;
  std::size_t cursor_ = 0;            // bytes, at the start of a character
  std::string sequence_;              // an escape sequence that has begun
  std::vector<std::string> history_;  // the last is the line that is typed now
  std::size_t shown_ = 0;             // of history_
};

}  // namespace trainward
