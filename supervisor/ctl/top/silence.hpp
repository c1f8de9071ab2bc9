// Whether a run has said nothing for longer than it usually takes. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "supervisor/ctl/top/model.hpp"

namespace trainward::ctl::top {

// `recent`: its newest steps. Longer than usual is what neither ten steps nor the longest pause
// among them (for a save, say) explains, and never less than half a minute. Nothing is said of an
// attempt that has not told of a few steps.
std::optional<Silence> silence_of(const Curve& recent, std::int64_t now_ms);

}  // namespace trainward::ctl::top
