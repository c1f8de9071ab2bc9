// The panes of the screen, each drawn into the place it is given. Pure.
#pragma once

#include <string_view>

#include "supervisor/ctl/top/canvas.hpp"
#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::top {

// A sentence for each program; the selected one in full, with what there is to do.
int program_rows(const Ui& ui, int width);
void draw_programs(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_curve(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_time(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_boards(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_events(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_log(Canvas& canvas, const Rect& area, const Ui& ui);
void draw_help(Canvas& canvas, const Rect& area);

// The line above a pane: its number, its name, and more about it.
void draw_title(Canvas& canvas, const Rect& area, const Ui& ui, Pane pane, std::string_view name,
                std::string_view more);
// The words before a pane that has no such line; returns the columns used.
int draw_gutter(Canvas& canvas, const Rect& area, const Ui& ui, Pane pane, std::string_view name);

}  // namespace trainward::ctl::top
