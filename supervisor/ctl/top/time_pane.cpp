#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "common/base/text.hpp"
#include "supervisor/ctl/top/glyphs.hpp"
#include "supervisor/ctl/top/panes.hpp"

namespace trainward::ctl::top {
namespace {

constexpr int narrowest_bar = 8;
constexpr int widest_bar = 40;
constexpr int window_width = 5;
constexpr double least_told = 0.005;

// Told apart by their pattern where colours are not seen.
struct Kind {
  std::string_view phase;
  std::string_view character;
  Ink ink;
};
constexpr std::array<Kind, 6> kinds{{
    {"stepping", "█", Ink::green},
    {"replaying", "▓", Ink::yellow},
    {"saving", "▒", Ink::cyan},
    {"evaluating", "▒", Ink::cyan},
    {"loading", "▒", Ink::blue},
    {"compiling", "▒", Ink::blue},
}};
constexpr Kind lost{"", "░", Ink::red};

const Kind& kind_of(std::string_view phase) {
  const auto* const found = std::ranges::find(kinds, phase, &Kind::phase);
  return found == kinds.end() ? lost : *found;
}

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Where time went besides useful steps, the most first.
std::string thieves_text(const Ledger& ledger) {
  std::string text;
  for (const Phase& phase : ledger.phases) {
    if (phase.name == "stepping" || phase.share < least_told) continue;
    text +=
        fmt::format("{}{} {}{}", text.empty() ? "" : " · ", phase.name, percent_text(phase.share),
                    phase.cause.empty() ? "" : " (" + phase.cause + ")");
  }
  return text.empty() ? "nothing else" : text;
}

int draw_bar(Canvas& canvas, const Rect& area, int x, int y, int width, const Ledger& ledger) {
  // A column goes to the phase that holds its middle, so that the bar is as long as its parts.
  double until = 0;
  int column = 0;
  const auto draw = [&](const Phase& phase) {
    until += phase.share;
    const Kind& kind = kind_of(phase.name);
    for (; column < width && (column + 0.5) / width <= until; ++column) {
      canvas.put(area, x + column, y, kind.character, {.ink = kind.ink});
    }
  };
  for (const Phase& phase : ledger.phases) {
    if (phase.name == "stepping") draw(phase);
  }
  for (const Phase& phase : ledger.phases) {
    if (phase.name != "stepping") draw(phase);
  }
  return width;
}

}  // namespace

void draw_time(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  const int gutter = draw_gutter(canvas, area, ui, Pane::time, "time");
  if (ui.shown.ledgers.empty()) {
    canvas.put(area, gutter, 0, "nothing is booked yet", looks::dim);
    return;
  }
  const int bar = std::clamp((area.width - gutter) / 3, narrowest_bar, widest_bar);
  for (int y = 0; y < area.height && y < static_cast<int>(ui.shown.ledgers.size()); ++y) {
    const Ledger& ledger = ui.shown.ledgers.at(static_cast<std::size_t>(y));
    int x = gutter;
    canvas.put(area, x, y, ledger.window, looks::dim);
    x += window_width;
    if (ledger.seconds <= 0) {
      canvas.put(area, x, y, "nothing is booked", looks::dim);
      continue;
    }
    x += draw_bar(canvas, area, x, y, bar, ledger) + 1;
    x += canvas.put(area, x, y, fmt::format("{:>5}", percent_text(ledger.effective)), looks::bold);
    canvas.put(area, x + 2, y, cut(thieves_text(ledger), area.width - x - 2));
  }
}

}  // namespace trainward::ctl::top
