// A report as plain lines for people.
#pragma once

#include <string>

#include "hwprobe/report.hpp"

namespace trainward::hwprobe {

std::string to_table(const Report& report);

}  // namespace trainward::hwprobe
