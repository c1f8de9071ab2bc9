// Notices that the state folder was deleted, moved or replaced while the daemon works in it. What
// the daemon and its shims have open then belongs to no folder, nothing they do can be recorded,
// and another trainwardd could begin in a new folder of the same name.
#pragma once

#include <filesystem>
#include <functional>

#include "common/base/error.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

// An error (permanent) when the lock file that is open as `lock` no longer lies at `file`.
// A look that fails for another reason tells nothing and passes.
Status check_lock_lies_at(int lock, const std::filesystem::path& file);

class StateFolder {
 public:
  // Looks once a second, on the loop: the run database lies in the same folder and is written
  // there, so a file system that hangs would hold the loop up anyway. `lost` is called once.
  StateFolder(Loop& loop, int lock, std::filesystem::path file,
              std::function<void(const Error&)> lost);

 private:
  void look();
  int lock_;
  std::filesystem::path file_;
  std::function<void(const Error&)> lost_;
  Timer timer_;
};

}  // namespace trainward::daemon
