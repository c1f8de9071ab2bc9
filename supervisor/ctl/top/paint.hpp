// What to write to a terminal so that it shows a canvas: only what differs from the one it shows.
// Pure.
//
// Sequences that every terminal since the VT100 knows: cursor to a place, colours and attributes,
// erase to the end of the line.
#pragma once

#include <string>

#include "supervisor/ctl/top/canvas.hpp"

namespace trainward::ctl::top {

struct PaintOptions {
  bool colour = true;  // else attributes alone: bold, faint, reverse
  bool ascii = false;  // nothing but ASCII
};

// `shown`: what is on the screen now; null, or of another size: nothing is known, and all is drawn.
// Empty when nothing differs.
std::string paint(const Canvas* shown, const Canvas& wanted, PaintOptions options);

}  // namespace trainward::ctl::top
