// The default folder for the locks and the memory of the stages.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

// Creates it if missing: the first usable one of /run/trainward-probe (root),
// $XDG_RUNTIME_DIR/trainward-probe, and a folder of this user in the folder for temporary files.
// Only a folder that belongs to this user is used.
Result<std::filesystem::path> default_state_folder();

}  // namespace trainward::hwprobe
