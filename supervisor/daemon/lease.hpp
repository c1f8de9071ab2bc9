// The right to use a board, or to run a program: an exclusive flock on a file.
//
// The lock belongs to the open file, so it passes to the shim and the worker that inherit the
// descriptor and is held until the last of them is gone, whatever daemons come and go.
#pragma once

#include <filesystem>

#include "common/error.hpp"
#include "common/fd.hpp"

namespace trainward::daemon {

// The descriptor is CLOEXEC; the launcher hands it on explicitly. Kind transient: somebody holds
// it.
Result<Fd> take_lease(const std::filesystem::path& file);

}  // namespace trainward::daemon
