#include "supervisor/ctl/top/canvas.hpp"

#include <algorithm>
#include <cstddef>

#include "supervisor/ctl/top/glyphs.hpp"

namespace trainward::ctl::top {

Canvas::Canvas(Size size)
    : size_{std::max(size.width, 0), std::max(size.height, 0)},
      cells_(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height)) {}

bool Canvas::inside(int x, int y) const {
  return x >= 0 && x < size_.width && y >= 0 && y < size_.height;
}

Cell& Canvas::cell(int x, int y) {
  return cells_.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
                   static_cast<std::size_t>(x));
}

const Cell& Canvas::at(int x, int y) const {
  return cells_.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
                   static_cast<std::size_t>(x));
}

void Canvas::free(int x, int y) {
  if (cell(x, y).text.empty() && x > 0) cell(x - 1, y) = {" ", cell(x - 1, y).look};
  if (x + 1 < size_.width && cell(x + 1, y).text.empty()) cell(x + 1, y).text = " ";
}

int Canvas::put(int x, int y, std::string_view text, Look look, int room) {
  int used = 0;
  for (const Glyph& glyph : glyphs_of(text)) {
    if (used + glyph.width > room) break;
    const int column = x + used;
    used += glyph.width;
    if (!inside(column, y) || !inside(column + glyph.width - 1, y)) continue;
    free(column, y);
    if (glyph.width == 2) {
      free(column + 1, y);
      cell(column + 1, y) = {"", look};
    }
    cell(column, y) = {glyph.text, look};
  }
  return used;
}

int Canvas::put(const Rect& area, int x, int y, std::string_view text, Look look) {
  if (y < 0 || y >= area.height || x >= area.width || x < 0) return 0;
  return put(area.x + x, area.y + y, text, look, area.width - x);
}

void Canvas::fill(const Rect& area, std::string_view character, Look look) {
  for (int y = 0; y < area.height; ++y) {
    for (int x = 0; x < area.width; ++x) put(area.x + x, area.y + y, character, look, 1);
  }
}

std::string text_of(const Canvas& canvas, bool ascii) {
  std::string text;
  for (int y = 0; y < canvas.size().height; ++y) {
    std::string line;
    for (int x = 0; x < canvas.size().width; ++x) {
      const Cell& cell = canvas.at(x, y);
      if (cell.text.empty()) continue;
      const bool wide = x + 1 < canvas.size().width && canvas.at(x + 1, y).text.empty();
      line += ascii ? ascii_of({cell.text, wide ? 2 : 1}) : cell.text;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace trainward::ctl::top
