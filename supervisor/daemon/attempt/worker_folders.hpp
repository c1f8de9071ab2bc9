// The folders that a worker with a user of its own writes in, made that user's.
//
// Its checkpoints, its caches and its temporary files belong to it; every folder above them, and
// with it every name in the state folder, stays the daemon's, so that none of them can be moved or
// replaced by a link. Others may pass through the folders above and not list them.
#pragma once

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"
#include "common/os/folder.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"

namespace trainward::daemon {

// Before a launch, on any thread: what lies below the program's folder. Checkpoints of attempts
// under another user are handed over too; no link is followed, and no file that has a second name
// is given away. Does nothing for a program without a user of its own.
Status hand_over_folders(const config::Program& program, const Paths& paths);

// The worker's configuration in the folder of an attempt.
inline constexpr const char* worker_config = "worker.json";

// What lies in the attempt's own folder, which has been made with all that is in it.
Status hand_over_attempt(const config::Program& program, const Folder& folder);

// As long as it lives, this thread acts in the program's folders as its user, for whom they
// are made ready first. On a thread that does nothing else meanwhile; does nothing for a program
// without a user of its own. False: with why().
class InItsFolders {
 public:
  InItsFolders(const config::Program& program, const Paths& paths);
  explicit operator bool() const { return static_cast<bool>(ready_); }
  [[nodiscard]] tl::unexpected<Error> why() const { return tl::unexpected<Error>(ready_.error()); }

 private:
  Status ready_;
  ActingAs acting_;
};

}  // namespace trainward::daemon
