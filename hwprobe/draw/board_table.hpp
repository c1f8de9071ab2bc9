// A report as lines for people: a row a board, and under it what is the matter and what to do.
// Words from elsewhere are made safe for a terminal.
#pragma once

#include <string>

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

// `colours`: verdicts in green, yellow and red, for a terminal. The columns stay the same.
std::string to_table(const Report& report, bool colours = false);

}  // namespace trainward::hwprobe
