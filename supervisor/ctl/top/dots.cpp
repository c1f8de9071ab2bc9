#include "supervisor/ctl/top/dots.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace trainward::ctl::top {
namespace {

// Unicode numbers the dots of a cell in the order of their history.
constexpr std::array<std::array<std::uint8_t, 2>, 4> braille_bits{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

}  // namespace

Dots::Dots(int cells_wide, int cells_high, bool ascii)
    : cells_wide_(std::max(cells_wide, 0)),
      cells_high_(std::max(cells_high, 0)),
      columns_(ascii ? 1 : 2),
      rows_(ascii ? 2 : 4),
      cells_(static_cast<std::size_t>(cells_wide_) * static_cast<std::size_t>(cells_high_)) {}

void Dots::set(int x, int y) {
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  const int cell = y / rows_ * cells_wide_ + x / columns_;
  const auto row = static_cast<std::size_t>(y % rows_);
  const std::uint8_t bit = columns_ == 1
                               ? static_cast<std::uint8_t>(1U << row)
                               : braille_bits.at(row).at(static_cast<std::size_t>(x % columns_));
  cells_.at(static_cast<std::size_t>(cell)) |= bit;
}

void Dots::line(int x0, int y0, int x1, int y1) {
  const int wide = std::abs(x1 - x0);
  const int high = std::abs(y1 - y0);
  const int steps = std::max({wide, high, 1});
  for (int i = 0; i <= steps; ++i) {
    set(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
  }
}

std::uint8_t Dots::bits(int cell_x, int cell_y) const {
  return cells_.at(static_cast<std::size_t>(cell_y) * static_cast<std::size_t>(cells_wide_) +
                   static_cast<std::size_t>(cell_x));
}

bool Dots::empty(int cell_x, int cell_y) const { return bits(cell_x, cell_y) == 0; }

std::string Dots::character(int cell_x, int cell_y) const {
  const std::uint8_t dots = bits(cell_x, cell_y);
  if (columns_ == 1) {
    constexpr std::array<const char*, 4> ascii{" ", "'", ".", ":"};
    return ascii.at(dots & 3U);
  }
  if (dots == 0) return " ";
  // U+2800 and the dots, in UTF-8.
  std::string text = "\xE2\xA0\x80";
  text[1] = static_cast<char>(0xA0U | (dots >> 6U));
  text[2] = static_cast<char>(0x80U | (dots & 0x3FU));
  return text;
}

}  // namespace trainward::ctl::top
