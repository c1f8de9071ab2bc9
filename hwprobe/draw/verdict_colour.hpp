// The colour of a verdict: green runs, yellow may run again by itself, red does not.
#pragma once

#include "common/terminal/colour.hpp"
#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

Colour colour_of(Verdict verdict);

}  // namespace trainward::hwprobe
