#include "supervisor/ctl/top/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "supervisor/ctl/top/glyphs.hpp"
#include "supervisor/ctl/top/layout.hpp"
#include "supervisor/ctl/top/panes.hpp"

namespace trainward::ctl::top {
namespace {

void draw_header(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  const Snapshot& shown = ui.shown;
  const int clock = width_of(shown.clock);
  canvas.put(area, 0, 0, "trainward", looks::bold);
  const int end = area.width > clock + 10 ? area.width - clock : area.width;
  if (end < area.width) canvas.put(area, end, 0, shown.clock, looks::dim);
  int x = 11;
  const auto say = [&](const std::string& text, Look look) {
    if (x + 4 < end) x += canvas.put(area, x, 0, cut(text, end - x - 1), look) + 2;
  };
  const auto needy = std::ranges::count_if(shown.programs, &Program::urgent);
  if (needy > 0) say(needy == 1 ? "1 needs you" : fmt::format("{} need you", needy), looks::bad);
  if (!shown.trouble.empty() && !(shown.origin == Origin::nothing && shown.programs.empty())) {
    say(shown.trouble, looks::bad);
  }
  if (shown.programs.size() > 1) say(fmt::format("{} programs", shown.programs.size()), {});
}

std::string question_text(const Question& question) {
  const std::string what = fmt::format("{} {}? ",
                                       question.verb == Verb::start  ? "Start"
                                       : question.verb == Verb::stop ? "Stop"
                                                                     : "Restart",
                                       question.program);
  return question.cost.empty() ? what + "asking what it costs …" : what + question.cost;
}

// The answer to be given stays in sight, whatever the cost's words are.
void draw_question(Canvas& canvas, const Rect& area, const Question& question) {
  const std::string keys = question.cost.empty() ? " [n]" : " [y/n]";
  const int room = std::max(area.width - width_of(keys), 0);
  canvas.fill(area, " ", looks::reverse);
  const int used = canvas.put(area, 0, 0, cut(question_text(question), room), looks::reverse);
  canvas.put(area, used, 0, keys, {.bold = true, .reverse = true});
}

void draw_footer(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty() || ui.plain) return;
  if (ui.question) return draw_question(canvas, area, *ui.question);
  if (ui.filtering) {
    const int used =
        canvas.put(area, 0, 0, "/" + cut(ui.filter, std::max(area.width - 2, 1)), looks::bold);
    canvas.put(area, used, 0, " ", looks::reverse);
    canvas.put(area, used + 2, 0, cut("Enter keeps it, Esc does not", area.width - used - 2),
               looks::dim);
    return;
  }
  if (!ui.notice.empty()) {
    canvas.put(area, 0, 0, cut(ui.notice, area.width), looks::bold);
    return;
  }
  constexpr std::array<std::pair<const char*, const char*>, 8> hints{{
      {"q", "quit"},
      {"?", "help"},
      {"s", "start"},
      {"t", "stop"},
      {"r", "restart"},
      {"/", "filter"},
      {"+-", "zoom"},
      {"1-5", "panes"},
  }};
  int x = 0;
  for (const auto& [key, what] : hints) {
    const int width = width_of(key) + 1 + width_of(what);
    if (x + width > area.width) break;
    canvas.put(area, x, 0, key, looks::bold);
    canvas.put(area, x + width_of(key) + 1, 0, what, looks::dim);
    x += width + 3;
  }
}

}  // namespace

void draw_title(Canvas& canvas, const Rect& area, const Ui& ui, Pane pane, std::string_view name,
                std::string_view more) {
  canvas.fill({area.x, area.y, area.width, 1}, "─", looks::dim);
  const Look look{.bold = true, .reverse = ui.focus == pane};
  int x = 1 + canvas.put(area, 1, 0, fmt::format(" {} {} ", static_cast<int>(pane), name), look);
  if (more.empty() || area.width - x < 4) return;
  canvas.put(area, x + 1, 0, " " + cut(more, area.width - x - 3) + " ", looks::plain);
}

int draw_gutter(Canvas& canvas, const Rect& area, const Ui& ui, Pane pane, std::string_view name) {
  constexpr int width = 10;
  const Look look{.bold = true, .reverse = ui.focus == pane};
  canvas.put(area, 0, 0, fmt::format("{} {}", static_cast<int>(pane), name), look);
  return width;
}

void draw_help(Canvas& canvas, const Rect& area) {
  constexpr std::array<std::pair<const char*, const char*>, 16> lines{{
      {"tab", "the next pane has the arrow keys"},
      {"↑ ↓  k j", "select a program, scroll, or zoom the curve"},
      {"← →  h l", "move along a zoomed curve"},
      {"+ - 0", "zoom in, out, all steps"},
      {"y", "logarithmic loss"},
      {"[ ]", "program before, after"},
      {"1 … 5", "curve, time, boards, events, log: put away or back"},
      {"e", "log of stdout or stderr"},
      {"/", "only events and lines with these words; Esc: all"},
      {"PgUp PgDn", "scroll ten lines; Home, End: oldest, newest"},
      {"s t r", "start, stop, restart; says what it costs and asks"},
      {"Ctrl-L", "redraw"},
      {"Ctrl-Z", "into the background; fg comes back"},
      {"q Ctrl-C", "quit; what trains goes on training"},
      {"", ""},
      {"", "any key closes this"},
  }};
  const int width = std::min(64, area.width);
  const int height = std::min(static_cast<int>(lines.size()) + 2, area.height);
  const Rect box{area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width,
                 height};
  canvas.fill(box, " ", looks::plain);
  canvas.fill({box.x, box.y, box.width, 1}, "─", looks::dim);
  canvas.fill({box.x, box.y + box.height - 1, box.width, 1}, "─", looks::dim);
  canvas.put(box, 1, 0, " keys ", looks::bold);
  const Rect inner{box.x + 1, box.y + 1, box.width - 2, box.height - 2};
  for (int y = 0; y < inner.height && y < static_cast<int>(lines.size()); ++y) {
    const auto& [key, what] = lines.at(static_cast<std::size_t>(y));
    canvas.put(inner, 0, y, key, looks::bold);
    canvas.put(inner, 11, y, cut(what, inner.width - 11));
  }
}

Canvas draw(const Ui& ui) {
  Canvas canvas(ui.size);
  const Layout layout =
      lay_out(ui.size, ui.visible,
              {program_rows(ui, ui.size.width), static_cast<int>(ui.shown.ledgers.size()),
               static_cast<int>(ui.shown.boards.size())});
  draw_header(canvas, layout.header, ui);
  draw_programs(canvas, layout.of(Pane::programs), ui);
  draw_curve(canvas, layout.of(Pane::curve), ui);
  draw_time(canvas, layout.of(Pane::time), ui);
  draw_boards(canvas, layout.of(Pane::boards), ui);
  draw_events(canvas, layout.of(Pane::events), ui);
  draw_log(canvas, layout.of(Pane::log), ui);
  draw_footer(canvas, layout.footer, ui);
  if (ui.help) draw_help(canvas, {0, 0, ui.size.width, ui.size.height});
  return canvas;
}

}  // namespace trainward::ctl::top
