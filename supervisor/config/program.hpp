// One entry of `programs:` read into a Program.
//
// Failure: problems appended to the reader's list; what is returned is then not to be used.
#pragma once

#include <vector>

#include "common/yaml/document.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/config/reading.hpp"

namespace trainward::config {

Program read_program(const yaml::Member& member, const Folders& folders,
                     std::vector<yaml::Problem>& problems);

}  // namespace trainward::config
