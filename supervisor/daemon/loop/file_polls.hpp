// Looks at files once a second, for those of which nobody tells when they change.
//
// A thread for each file system, for as long as it has files to look at: one that hangs (a lost
// mount) holds up its own files and nobody else's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::daemon {

class FilePolls {
 public:
  struct Rhythm {
    std::int64_t poll_ms = 1'000;
    std::int64_t retry_ms = 60'000;
  };
  // Both are called on threads of this object, also once or twice after it is gone.
  struct Listener {
    std::function<void(std::vector<int> ids)> changed;
    // Every `retry_ms`, just before the look at it: what changes later need not be looked for when
    // somebody has begun to tell.
    std::function<void(int id)> retry;
  };

  FilePolls(Rhythm rhythm, Listener listener);
  ~FilePolls();  // a thread that hangs in the kernel is left to itself
  FilePolls(const FilePolls&) = delete;
  FilePolls& operator=(const FilePolls&) = delete;

  // From any thread; looks at the path, and fails when there is nothing. A folder counts as changed
  // at every look: the files in it may have been written to.
  Status add(int id, const std::filesystem::path& path);
  void remove(int id);

 private:
  struct Lane;
  Rhythm rhythm_;
  Listener listener_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Lane>> lanes_;  // device → its files; guarded by mutex_
  std::map<int, std::uint64_t> device_of_;                // guarded by mutex_
};

}  // namespace trainward::daemon
