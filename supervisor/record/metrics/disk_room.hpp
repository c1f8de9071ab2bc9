// Room on disks, asked for where a disk that does not answer holds nobody up.
//
// The asking is done by a thread that is left behind when it gets stuck; what was seen less than a
// minute ago is told meanwhile. A folder that hangs is not asked again before it has answered. One
// thread uses an object; what it left behind may outlive it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/record/metrics/snapshot.hpp"

namespace trainward::metrics {

struct WatchedFolder {
  std::string folder;   // "state", "checkpoints"
  std::string program;  // empty: of none
  std::filesystem::path path;
};

class DiskRoom {
 public:
  DiskRoom();
  // As far as is known; the first call waits a moment for an answer. A folder that is not there is
  // left out.
  [[nodiscard]] std::vector<DiskFigures> look(const std::vector<WatchedFolder>& folders);

 private:
  struct Seen;
  std::shared_ptr<Seen> seen_;
};

}  // namespace trainward::metrics
