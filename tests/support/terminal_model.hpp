// A terminal as a program sees it: what its bytes would show, strictly. What it does not know, and
// what would be drawn outside, is noted as wrong.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/utf8.hpp"
#include "supervisor/ctl/top/glyphs.hpp"

namespace trainward {

class TerminalModel {
 public:
  struct Cell {
    std::string text = " ";  // empty: the right half of a wide character
    std::string look;        // the parameters of the newest "ESC [ … m"
    friend bool operator==(const Cell&, const Cell&) = default;
  };

  TerminalModel(int width, int height) : width_(width), height_(height) { clear(); }

  // From the next time that all is erased: what is on its way until then is for the old size.
  void resize_when_erased(int width, int height) {
    next_width_ = width;
    next_height_ = height;
  }

  void take(std::string_view bytes) {
    pending_ += bytes;
    while (!pending_.empty()) {
      const std::size_t used = pending_[0] == '\x1b' ? sequence() : character();
      if (used == 0) return;
      pending_.erase(0, used);
    }
  }

  [[nodiscard]] const Cell& at(int x, int y) const {
    return cells_.at(static_cast<std::size_t>(y * width_ + x));
  }
  [[nodiscard]] std::string line(int y) const {
    std::string text;
    for (int x = 0; x < width_; ++x) text += at(x, y).text;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (int y = 0; y < height_; ++y) text += line(y) + '\n';
    return text;
  }
  [[nodiscard]] bool shows(std::string_view text) const {
    return this->text().find(text) != std::string::npos;
  }

  [[nodiscard]] int height() const { return height_; }

  bool other_screen = false;
  bool cursor = true;
  bool wraps = true;
  bool tells_pastes = false;
  std::string look;
  std::string wrong;  // empty: nothing was

 private:
  void clear() {
    cells_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), Cell{});
  }

  void say_wrong(const std::string& what) {
    if (wrong.empty()) wrong = what;
  }

  std::size_t character() {
    const auto byte = static_cast<unsigned char>(pending_[0]);
    if (byte == 0x18) return 1;  // CAN ends a sequence
    if (byte == '\r') return x_ = 0, 1;
    if (byte == '\n') return y_ = std::min(y_ + 1, height_ - 1), 1;
    if (byte < ' ' || byte == 127) return say_wrong("a control character"), 1;
    const std::size_t length = utf8_character(pending_);
    if (length == 0) {
      if (pending_.size() < 4) return 0;  // the rest may come
      return say_wrong("a byte that is no UTF-8"), 1;
    }
    const std::string text = pending_.substr(0, length);
    const auto glyphs = ctl::top::glyphs_of(text);
    if (glyphs.empty()) {  // a mark on the character before
      if (x_ > 0) cell(x_ - 1).text += text;
      return length;
    }
    const int width = glyphs.front().width;
    if (x_ + width > width_) return say_wrong("a character behind the last column"), length;
    cell(x_) = {text, look};
    if (width == 2) cell(x_ + 1) = {"", look};
    x_ += width;
    return length;
  }

  Cell& cell(int x) { return cells_.at(static_cast<std::size_t>(y_ * width_ + x)); }

  std::size_t sequence() {
    if (pending_.size() < 2) return 0;
    if (pending_[1] != '[') return say_wrong("an escape sequence: " + pending_.substr(1, 8)), 2;
    std::size_t end = 2;
    while (end < pending_.size() && (pending_[end] < '@' || pending_[end] > '~')) ++end;
    if (end == pending_.size()) return 0;
    obey(pending_.substr(2, end - 2), pending_[end]);
    return end + 1;
  }

  void obey(const std::string& parameters, char what) {
    const int first = parameters.empty() ? 0 : std::atoi(parameters.c_str());
    const std::size_t semicolon = parameters.find(';');
    switch (what) {
      case 'H':
        y_ = std::max(first, 1) - 1;
        x_ = semicolon == std::string::npos ? 0 : std::atoi(parameters.c_str() + semicolon + 1) - 1;
        if (x_ < 0 || x_ >= width_ || y_ >= height_) say_wrong("the cursor outside: " + parameters);
        x_ = std::clamp(x_, 0, width_ - 1);
        y_ = std::clamp(y_, 0, height_ - 1);
        return;
      case 'C':
        x_ += std::max(first, 1);
        if (x_ >= width_) say_wrong("the cursor outside by " + parameters);
        x_ = std::min(x_, width_ - 1);
        return;
      case 'K':
        for (int x = x_; x < width_; ++x) cell(x) = {};
        return;
      case 'J':
        if (first != 2) say_wrong("erase " + parameters);
        if (next_width_ > 0) {
          width_ = std::exchange(next_width_, 0);
          height_ = next_height_;
        }
        return clear();
      case 'm':
        look = parameters == "0" ? "" : parameters;
        return;
      case 'h':
      case 'l':
        return mode(parameters, what == 'h');
      default:
        say_wrong(std::string("ESC [ ") + parameters + what);
    }
  }

  void mode(const std::string& number, bool on) {
    if (number == "?1049") {
      other_screen = on;
      clear();
    } else if (number == "?25") {
      cursor = on;
    } else if (number == "?7") {
      wraps = on;
    } else if (number == "?2004") {
      tells_pastes = on;
    } else {
      say_wrong("mode " + number);
    }
  }

  int width_;
  int height_;
  int next_width_ = 0;  // 0: stays
  int next_height_ = 0;
  int x_ = 0;
  int y_ = 0;
  std::vector<Cell> cells_;
  std::string pending_;
};

}  // namespace trainward
