// A screen of cells, drawn before anything of it reaches a terminal. Pure.
//
// Whatever is put outside is left out; text is made safe on its way in, so that no byte of a
// worker, a file or a name can reach the terminal as anything but a visible character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/ctl/top/look.hpp"

namespace trainward::ctl::top {

struct Size {
  int width = 0;
  int height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  [[nodiscard]] bool empty() const { return width <= 0 || height <= 0; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

struct Cell {
  std::string text = " ";  // empty: the right half of the wide character before it
  Look look;
  friend bool operator==(const Cell&, const Cell&) = default;
};

class Canvas {
 public:
  explicit Canvas(Size size = {});

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] const Cell& at(int x, int y) const;

  // Text from (x, y) to the right, at most `room` columns of it; returns the columns used.
  int put(int x, int y, std::string_view text, Look look, int room);
  // The same within a line of `area`, whose columns are counted from its left edge.
  int put(const Rect& area, int x, int y, std::string_view text, Look look = {});
  void fill(const Rect& area, std::string_view character, Look look);

 private:
  [[nodiscard]] bool inside(int x, int y) const;
  Cell& cell(int x, int y);
  void free(int x, int y);  // takes a wide character away of which (x, y) is a half

  Size size_;
  std::vector<Cell> cells_;
};

// As text, a line a row, without the blanks at their ends; `ascii`: nothing but ASCII.
std::string text_of(const Canvas& canvas, bool ascii);

}  // namespace trainward::ctl::top
