// One line for an event or an action, for people who read a trace.
#pragma once

#include <string>

#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/event.hpp"

namespace trainward::sim {

std::string describe(const core::Event& event);
std::string describe(const core::Action& action);  // empty: not worth a line

}  // namespace trainward::sim
