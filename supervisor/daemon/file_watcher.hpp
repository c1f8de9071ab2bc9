// Tells when files grow (inotify).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "common/error.hpp"
#include "common/fd.hpp"
#include "supervisor/daemon/loop.hpp"

namespace trainward::daemon {

class FileWatcher {
 public:
  static Result<std::unique_ptr<FileWatcher>> make(Loop& loop);

  // Calls `changed` on the loop after the file was written to; one callback a file. The file
  // exists.
  Result<int> add(const std::filesystem::path& file, std::function<void()> changed);
  void remove(int id);

 private:
  FileWatcher(Loop& loop, Fd fd);
  void drain();
  Fd fd_;
  std::map<int, std::function<void()>> callbacks_;
  Watch watch_;
};

}  // namespace trainward::daemon
