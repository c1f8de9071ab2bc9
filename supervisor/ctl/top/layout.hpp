// Which pane stands where on a screen of a size. Pure.
#pragma once

#include <array>

#include "supervisor/ctl/top/canvas.hpp"
#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::top {

struct Layout {
  Rect header;
  Rect footer;
  std::array<Rect, panes> pane{};  // by Pane; empty: no room, or put away

  [[nodiscard]] const Rect& of(Pane which) const {
    return pane.at(static_cast<std::size_t>(which));
  }
};

// Rows that the panes without an end of their own want.
struct Wanted {
  int programs = 1;
  int ledgers = 0;
  int boards = 0;
};

// Nothing overlaps and nothing is outside. What has no room is left out, the boards first and the
// curve last; the sentences are always there.
Layout lay_out(Size size, const std::array<bool, panes>& visible, Wanted wanted);

}  // namespace trainward::ctl::top
