#include "common/terminal/edited_line.hpp"

#include <algorithm>
#include <utility>

#include "common/terminal/display_text.hpp"

namespace trainward {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr char escape_key = 27;

constexpr char ctrl(char letter) { return static_cast<char>(letter - 'A' + 1); }

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

// "ESC [ … letter" or "ESC O letter"; anything else is the key with Alt, and over with its byte.
bool is_whole(std::string_view sequence) {
  if (sequence.size() < 2) return false;
  if (sequence[1] == 'O') return sequence.size() > 2;
  if (sequence[1] != '[') return true;
  return sequence.size() > 2 && sequence.back() >= '@' && sequence.back() <= '~';
}

}  // namespace

EditedLine::EditedLine(std::vector<std::string> history) : history_(std::move(history)) {
  shown_ = history_.size();
  history_.emplace_back();
}

EditedLine::Then EditedLine::take(char byte) {
  if (!sequence_.empty() || byte == escape_key) {
    sequence_ += byte;
    if (is_whole(sequence_)) escape(std::exchange(sequence_, {}));
    return Then::go_on;
  }
  const auto code = static_cast<unsigned char>(byte);
  if (code < ' ' || code == 127) return control(byte);
  insert({&byte, 1});
  return Then::go_on;
}

EditedLine::Then EditedLine::control(char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return Then::accept;
    case '\t':
      return Then::complete;
    case ctrl('A'):
      cursor_ = 0;
      break;
    case ctrl('B'):
      left();
      break;
    case ctrl('C'):
      return Then::give_up;
    case ctrl('D'):
      if (text_.empty()) return Then::end;
      erase_right();
      break;
    case ctrl('E'):
      cursor_ = text_.size();
      break;
    case ctrl('F'):
      right();
      break;
    case ctrl('H'):
    case 127:
      erase_left();
      break;
    case ctrl('K'):
      text_.resize(cursor_);
      break;
    case ctrl('L'):
      return Then::clear;
    case ctrl('N'):
      recall(shown_ + 1);
      break;
    case ctrl('P'):
      recall(shown_ - 1);
      break;
    case ctrl('U'):
      text_.erase(0, std::exchange(cursor_, 0));
      break;
    case ctrl('W'):
      erase_word();
      break;
    default:
      break;
  }
  return Then::go_on;
}

void EditedLine::escape(std::string_view sequence) {
  const std::string_view key = sequence.substr(1);
  if (key == "[A" || key == "OA") recall(shown_ - 1);
  if (key == "[B" || key == "OB") recall(shown_ + 1);
  if (key == "[C" || key == "OC") right();
  if (key == "[D" || key == "OD") left();
  if (key == "[H" || key == "OH" || key == "[1~") cursor_ = 0;
  if (key == "[F" || key == "OF" || key == "[4~") cursor_ = text_.size();
  if (key == "[3~") erase_right();
}

void EditedLine::insert(std::string_view text) {
  if (text_.size() + text.size() > longest_line) return;
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void EditedLine::left() {
  while (cursor_ > 0 && continues(text_[--cursor_])) {
  }
}

void EditedLine::right() {
  if (cursor_ < text_.size()) ++cursor_;
  while (cursor_ < text_.size() && continues(text_[cursor_])) ++cursor_;
}

void EditedLine::erase_left() {
  const std::size_t end = cursor_;
  left();
  text_.erase(cursor_, end - cursor_);
}

void EditedLine::erase_right() {
  const std::size_t begin = cursor_;
  right();
  text_.erase(begin, cursor_ - begin);
  cursor_ = begin;
}

void EditedLine::erase_word() {
  const std::size_t end = cursor_;
  while (cursor_ > 0 && text_[cursor_ - 1] == ' ') --cursor_;
  while (cursor_ > 0 && text_[cursor_ - 1] != ' ') --cursor_;
  text_.erase(cursor_, end - cursor_);
}

// Beyond either end there is nothing; before the first, `index` is a very large number.
void EditedLine::recall(std::size_t index) {
  if (index >= history_.size()) return;
  history_[shown_] = text_;
  shown_ = index;
  text_ = history_[shown_];
  cursor_ = text_.size();
}

std::string EditedLine::drawn(std::string_view prompt, std::size_t width) const {
  std::string before = before_cursor();
  std::string after = text_.substr(cursor_);
  const std::size_t room = width == 0 ? longest_line : width - std::min(width - 1, prompt.size());
  while (!before.empty() && display_width(before) >= room) {
    const auto next = std::find_if_not(before.begin() + 1, before.end(), continues);
    before.erase(before.begin(), next);
  }
  while (!after.empty() && display_width(before) + display_width(after) >= room) {
    while (continues(after.back())) after.pop_back();
    after.pop_back();
  }
  std::string drawn = "\r" + std::string(prompt) + before + after + "\x1b[K";
  if (!after.empty()) drawn += "\x1b[" + std::to_string(display_width(after)) + "D";
  return drawn;
}

}  // namespace trainward
