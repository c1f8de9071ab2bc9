// Boards, events and log lines.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "supervisor/ctl/top/glyphs.hpp"
#include "supervisor/ctl/top/panes.hpp"

namespace trainward::ctl::top {
namespace {

struct Row {
  std::string when;
  std::string kind;
  std::string text;
  Look look;
};

bool matches(const std::string& filter, const std::string& text) {
  return filter.empty() || lower_case(text).find(lower_case(filter)) != std::string::npos;
}

Look look_of(const Event& event) {
  if (event.kind == "exit" || event.kind == "kill" || event.kind == "trouble") return looks::bad;
  if (event.kind == "verdict") return looks::changing;
  return looks::plain;
}

// The rows from the newest up, `back` of them left out below, the last at the bottom; nothing is
// scrolled beyond the oldest.
template <typename Draw>
void draw_newest(const Rect& area, std::size_t rows, std::size_t back, Draw draw) {
  const auto height = static_cast<std::size_t>(std::max(area.height - 1, 0));
  const std::size_t most_back = rows > height ? rows - height : 0;
  const std::size_t end = rows - std::min(back, most_back);
  const std::size_t begin = end > height ? end - height : 0;
  for (std::size_t i = begin; i < end; ++i) draw(static_cast<int>(i - begin) + 1, i);
}

std::string scrolled_text(std::size_t rows, std::size_t back, int height) {
  const auto shown = static_cast<std::size_t>(std::max(height - 1, 0));
  const std::size_t behind = std::min(back, rows > shown ? rows - shown : 0);
  return behind == 0 ? "" : fmt::format("{} newer below", behind);
}

std::string joined(const std::string& left, const std::string& right) {
  return left + (left.empty() || right.empty() ? "" : " · ") + right;
}

std::string filter_text(const Ui& ui) {
  return ui.filter.empty() ? "" : "only \"" + ui.filter + "\"";
}

}  // namespace

void draw_boards(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  const int gutter = draw_gutter(canvas, area, ui, Pane::boards, "boards");
  const auto& boards = ui.shown.boards;
  if (boards.empty()) canvas.put(area, gutter, 0, "none was ever looked at", looks::dim);
  const auto height = static_cast<std::size_t>(area.height);
  for (std::size_t i = 0; i < boards.size() && i < height; ++i) {
    const int y = static_cast<int>(i);
    if (i + 1 == height && boards.size() > height) {
      canvas.put(area, gutter, y,
                 fmt::format("and {} more: trainwardctl boards", boards.size() - i), looks::dim);
      break;
    }
    const Board& board = boards[i];
    int x = gutter;
    x += canvas.put(area, x, y, fmt::format("{} ", board.serial + " " + board.type));
    x += canvas.put(area, x, y, board.verdict, board.look);
    if (board.celsius) {
      const bool hot = *board.celsius >= board.celsius_limit;
      x += canvas.put(area, x, y, fmt::format("  {:.0f} °C", *board.celsius),
                      hot ? looks::bad : looks::plain);
    }
    if (board.watts) x += canvas.put(area, x, y, fmt::format("  {:.0f} W", *board.watts));
    const std::string rest = joined(board.measured, board.reason);
    canvas.put(area, x + 2, y, cut(rest, area.width - x - 2), looks::dim);
  }
}

void draw_events(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  std::vector<const Event*> events;
  for (const Event& event : ui.shown.events) {
    if (matches(ui.filter, event.kind + " " + event.text + " " + event.by))
      events.push_back(&event);
  }
  draw_title(canvas, area, ui, Pane::events, "events",
             joined(filter_text(ui), scrolled_text(events.size(), ui.events_back, area.height)));
  draw_newest(area, events.size(), ui.events_back, [&](int y, std::size_t i) {
    const Event& event = *events[i];
    int x = canvas.put(area, 0, y, event.when + " ", looks::dim);
    if (event.attempt > 0)
      x += canvas.put(area, x, y, fmt::format("#{} ", event.attempt), looks::dim);
    x += canvas.put(area, x, y, event.kind + " ", look_of(event));
    const std::string text = event.text + (event.by.empty() ? "" : " (" + event.by + ")");
    canvas.put(area, x, y, cut(text, area.width - x));
  });
}

void draw_log(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  const Log& log = ui.shown.log;
  std::vector<const std::string*> lines;
  for (const std::string& line : log.lines) {
    if (matches(ui.filter, line)) lines.push_back(&line);
  }
  std::string about = log.stream;
  if (log.attempt > 0) about += fmt::format(" of attempt {}", log.attempt);
  draw_title(canvas, area, ui, Pane::log, "log",
             joined(joined(about, filter_text(ui)),
                    scrolled_text(lines.size(), ui.log_back, area.height)));
  draw_newest(area, lines.size(), ui.log_back,
              [&](int y, std::size_t i) { canvas.put(area, 0, y, cut(*lines[i], area.width)); });
}

}  // namespace trainward::ctl::top
