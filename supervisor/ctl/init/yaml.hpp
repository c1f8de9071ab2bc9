// A first configuration, with comments, for what was found in a folder. Pure.
#pragma once

#include <string>

#include "supervisor/ctl/init/surroundings.hpp"

namespace trainward::ctl {

std::string first_configuration(const Surroundings& around);

}  // namespace trainward::ctl
