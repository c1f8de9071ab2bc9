// The remedy of purging compile caches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::daemon {

// What a purge is to delete. Kernels that cannot be read cost the vendor's kernels of that board
// first; the compiled programs carry checksums and serve every board, so they go only when that did
// not help. For any other cause, and for a command of the user's, who may keep anything in either,
// both go.
std::vector<std::filesystem::path> folders_to_purge(const Paths& paths, const core::State& state,
                                                    const std::string& serial,
                                                    const config::Program& program);

// Deletes what is inside these folders, and only inside; a missing folder is fine. Returns an empty
// text, or what stayed and why. The caches of a program with a user of its own are deleted as that
// user (ActingAs), who may have put links in place of them.
std::string purge_folders(const std::vector<std::filesystem::path>& folders);

}  // namespace trainward::daemon
