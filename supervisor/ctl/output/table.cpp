#include "supervisor/ctl/output/table.hpp"

#include <algorithm>

#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/view/attempt_view.hpp"

namespace trainward::ctl {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::size_t shortest_last_column = 20;

}  // namespace

std::string coloured(std::string_view text, Colour colour, const Style& style) {
  return painted(text, colour, style.colour);
}

Colour colour_of(std::string_view word) {
  switch (views::tone_of(word)) {
    case core::Tone::good:
      return Colour::green;
    case core::Tone::changing:
      return Colour::yellow;
    case core::Tone::quiet:
      return Colour::dim;
    case core::Tone::bad:
      break;
  }
  return Colour::red;
}

std::string Table::text(const Style& style, std::string_view indent) const {
  std::vector<std::vector<Cell>> lines;
  std::vector<Cell> titles;
  bool any_title = false;
  for (const Column& column : columns_) {
    titles.emplace_back(column.title, Colour::dim);
    any_title = any_title || !column.title.empty();
  }
  if (any_title) lines.push_back(std::move(titles));
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::vector<Cell>& line : lines) {
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
      line[i].text = clean(line[i].text);
      widths[i] = std::max(widths[i], display_width(line[i].text));
    }
  }

  std::string result;
  for (const std::vector<Cell>& line : lines) {
    std::string out(indent);
    std::size_t used = indent.size();
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
      const bool last = i + 1 == widths.size();
      std::string cell = line[i].text;
      if (last && style.width > 0) {
        const auto room = static_cast<std::size_t>(style.width);
        cell = shortened(cell, std::max(room > used ? room - used : 0, shortest_last_column));
      }
      const std::size_t width = display_width(cell);
      const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
      const std::string painted = coloured(cell, line[i].colour, style);
      if (columns_[i].align == Align::right) {
        out += padding + painted;
      } else {
        out += painted + (last ? "" : padding);
      }
      if (!last) out += gap;
      used += widths[i] + gap.size();
    }
    result += out.erase(out.find_last_not_of(' ') + 1) + '\n';
  }
  return result;
}

}  // namespace trainward::ctl
