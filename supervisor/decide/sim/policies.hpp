// The two ways of supervising that the core is compared with, and what is assumed about each
// (docs/simulation.md).
//
// Both are steps like the core's. Of the core's state they keep the stage and the attempt, and use
// three fields as their own: attempts_without_progress (how often they have tried),
// deadline_mono_ms (when they want to wake up), launched_mono_ms (when the wrapper was started).
#pragma once

#include <array>
#include <string_view>

#include "supervisor/decide/sim/parts/decider.hpp"

namespace trainward::sim {

// The core under test.
Decider core_decider(const Setup& setup);

// A shell loop: looks every half hour, starts again from the beginning, gives up after five
// attempts without a word, keeps nothing compiled, notices no hang.
Decider wrapper_decider(const Setup& setup);

// A service manager or an elastic launcher: notices an exit at once, waits longer each time,
// resumes from the newest checkpoint file without looking into it, keeps nothing compiled, notices
// no hang.
Decider retry_decider(const Setup& setup);

struct Contender {
  std::string_view name;
  Decider (*make)(const Setup& setup);
};
inline constexpr std::array<Contender, 3> contenders{
    {{"wrapper", wrapper_decider}, {"retry", retry_decider}, {"trainward", core_decider}}};

}  // namespace trainward::sim
