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

constexpr int most_sentence_lines = 3;  // of a sentence, and of what there is to do
constexpr int indent = 2;

struct Line {
  std::string text;
  Look look;
  int x = 0;
  bool name_first = false;
};

std::string silence_text(const Silence& silence) {
  return fmt::format("no step for {}; one usually takes {}", human_duration(silence.since_ms),
                     human_duration(silence.usual_ms));
}

std::vector<Line> lines_about(const Program& program, const Ui& ui, int width) {
  const bool selected = program.name == ui.selected;
  const int room = std::max(width - indent, 1);
  std::vector<Line> lines;
  std::string sentence = program.name + "  " + program.sentence;
  // Others have one line; what somebody has to do is in it before it is cut.
  if (!selected && program.silence)
    sentence = program.name + "  " + silence_text(*program.silence) + "; " + program.sentence;
  const int allowed = selected ? most_sentence_lines : 1;
  for (std::string& text : lines_of(sentence, room, allowed)) {
    lines.push_back({std::move(text), looks::plain, indent});
  }
  lines.front().name_first = true;
  lines.insert(lines.begin(), Line{program.glyph, program.look, 0});
  if (selected && !program.figures.empty()) {
    for (std::string& text : lines_of(program.figures, room, most_sentence_lines)) {
      lines.push_back({std::move(text), looks::dim, indent});
    }
  }
  if (selected && program.silence) {
    for (std::string& text : lines_of("⚠ " + silence_text(*program.silence), room, 1)) {
      lines.push_back({std::move(text), looks::changing, indent});
    }
  }
  if (selected && !program.todo.empty()) {
    for (std::string& text : lines_of(program.todo, room, most_sentence_lines)) {
      lines.push_back({std::move(text), program.urgent ? looks::bad : looks::bold, indent});
    }
  }
  return lines;
}

// The first line stands beside the glyph.
int rows_of(const std::vector<Line>& lines) { return static_cast<int>(lines.size()) - 1; }

void draw_about(Canvas& canvas, const Rect& area, int y, const Program& program, const Ui& ui) {
  const auto lines = lines_about(program, ui, area.width);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const int row = y + std::max(static_cast<int>(i) - 1, 0);
    canvas.put(area, line.x, row, line.text, line.look);
    if (!line.name_first) continue;
    const bool chosen = program.name == ui.selected && ui.shown.programs.size() > 1 && !ui.plain;
    const int name = std::min(width_of(program.name), area.width - line.x);
    canvas.put(area.x + line.x, area.y + row, line.text,
               Look{.ink = program.look.ink, .bold = true, .reverse = chosen},
               row < area.height ? name : 0);
  }
}

}  // namespace

int program_rows(const Ui& ui, int width) {
  int rows = 0;
  for (const Program& program : ui.shown.programs) rows += rows_of(lines_about(program, ui, width));
  return std::max(rows, 1);
}

void draw_programs(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  if (ui.shown.programs.empty()) {
    const bool answered = ui.shown.origin != Origin::nothing;
    canvas.put(area, 0, 0,
               answered ? "no programs yet: name one in the configuration, then trainwardctl update"
                        : ui.shown.trouble,
               answered ? looks::plain : looks::bad);
    return;
  }
  // The selected one is in sight, whole where there is room for it.
  int before = 0;
  int selected_rows = 1;
  for (const Program& program : ui.shown.programs) {
    const int rows = rows_of(lines_about(program, ui, area.width));
    if (program.name == ui.selected) {
      selected_rows = rows;
      break;
    }
    before += rows;
  }
  int y = -std::clamp(before + selected_rows - area.height, 0, before);
  for (const Program& program : ui.shown.programs) {
    const int rows = rows_of(lines_about(program, ui, area.width));
    if (y >= area.height) break;
    if (y >= 0) draw_about(canvas, area, y, program, ui);
    y += rows;
  }
}

}  // namespace trainward::ctl::top
