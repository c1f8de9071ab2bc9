// A picture of dots in cells of a terminal: eight in a braille character, or two (above and below)
// in ASCII. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainward::ctl::top {

class Dots {
 public:
  Dots(int cells_wide, int cells_high, bool ascii);

  [[nodiscard]] int width() const { return cells_wide_ * columns_; }
  [[nodiscard]] int height() const { return cells_high_ * rows_; }

  // y counts from the top; what is outside is left out.
  void set(int x, int y);
  void line(int x0, int y0, int x1, int y1);

  [[nodiscard]] bool empty(int cell_x, int cell_y) const;
  [[nodiscard]] std::string character(int cell_x, int cell_y) const;

 private:
  [[nodiscard]] std::uint8_t bits(int cell_x, int cell_y) const;

  int cells_wide_;
  int cells_high_;
  int columns_;  // of dots in a cell
  int rows_;
  std::vector<std::uint8_t> cells_;
};

}  // namespace trainward::ctl::top
