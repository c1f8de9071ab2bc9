// A snapshot as text. Pure.
#pragma once

#include <string>

#include "supervisor/record/metrics/format.hpp"
#include "supervisor/record/metrics/snapshot.hpp"

namespace trainward::metrics {

// Every program has every state and every cause that an attempt may end with, at 0 where there was
// none: a counter that only appears with its first count is not seen to have counted.
std::string expose(const Snapshot& snapshot, Format format);

}  // namespace trainward::metrics
