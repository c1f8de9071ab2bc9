// Remedies that touch the machine: resetting a board, purging compile caches.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "supervisor/core/state.hpp"
#include "supervisor/daemon/child_process.hpp"
#include "supervisor/daemon/services.hpp"
#include "supervisor/foreign/substitute.hpp"

namespace trainward::daemon {

struct BoardAddress {
  std::string serial;
  std::string bus_id;
};

// Runs the operator's reset command, without a shell, with {serial} and {bus_id} filled in.
// `done` gets an empty text, or why it did not work. Keep the object alive until then.
std::unique_ptr<ChildProcess> reset_board(Services& services,
                                          const std::vector<foreign::Template>& command,
                                          const BoardAddress& board, std::int64_t deadline_ms,
                                          std::function<void(std::string)> done);

// What a purge is to delete. Kernels that cannot be read cost the vendor's kernels of that board
// first; the compiled programs carry checksums and serve every board, so they go only when that did
// not help. For any other cause, and for a command of the user's, who may keep anything in either,
// both go.
std::vector<std::filesystem::path> folders_to_purge(const Paths& paths, const core::State& state,
                                                    const std::string& serial, bool own_worker);

// Deletes what is inside these folders, and only inside; a missing folder is fine. Returns an empty
// text, or what stayed and why.
std::string purge_folders(const std::vector<std::filesystem::path>& folders);

}  // namespace trainward::daemon
