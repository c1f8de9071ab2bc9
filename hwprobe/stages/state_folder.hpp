// Where the locks and the memory of the stages lie when nobody says where.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

// Makes it if it is not there: the first that can be had of /run/trainward-probe (root),
// $XDG_RUNTIME_DIR/trainward-probe, and one of this user's in the folder for temporary files. Only
// a folder that belongs to this user is taken.
Result<std::filesystem::path> default_state_folder();

}  // namespace trainward::hwprobe
