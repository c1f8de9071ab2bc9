// The right to use a board, or to run a program: an exclusive flock on a file.
//
// The lock belongs to the open file, so it passes to the shim and the worker that inherit the
// descriptor and is held until the last of them is gone, whatever daemons come and go. A helper
// that a killed shim left behind holds it as well; the launcher ends such helpers first
// (containment/leftovers.hpp). A process that closed its descriptors holds nothing: leases guard
// against two workers, and containment against helpers.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::daemon {

// The descriptor is CLOEXEC; the launcher hands it on explicitly. Kind transient: somebody holds
// it.
Result<Fd> take_lease(const std::filesystem::path& file);

}  // namespace trainward::daemon
