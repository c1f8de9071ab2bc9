// Who may change what commands and state are read from.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"

namespace trainward {

// Refuses (permanent, with the chmod to run) a file or folder that every user of the machine may
// write, or put another in the place of because its folder is so. Its owner and its group are no
// strangers: somebody chose them. What is not there passes, and so does a pipe, which a shell made.
Status check_known_writers(const std::filesystem::path& path);

}  // namespace trainward
