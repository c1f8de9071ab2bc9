// The screen, drawn. Pure.
#pragma once

#include "supervisor/ctl/top/canvas.hpp"
#include "supervisor/ctl/top/ui.hpp"

namespace trainward::ctl::top {

Canvas draw(const Ui& ui);

}  // namespace trainward::ctl::top
