// Tells when files grow, and when something appears in a folder (inotify).
//
// Several may watch the same file or folder: programs can share a working directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/error.hpp"
#include "common/fd.hpp"
#include "supervisor/daemon/loop.hpp"

namespace trainward::daemon {

class FileWatcher {
 public:
  static Result<std::unique_ptr<FileWatcher>> make(Loop& loop);

  // Calls `changed` on the loop after the file was written to; many writes may be one call. The
  // file exists; what takes its place under the same name is another file.
  Result<int> add(const std::filesystem::path& file, std::function<void()> changed);

  // Calls `changed` with the name of an entry of the folder that was made, moved in, or closed
  // after writing; with "" when nobody knows which. The folder exists.
  Result<int> add_folder(const std::filesystem::path& folder,
                         std::function<void(const std::string& name)> changed);
  void remove(int id);

 private:
  using Callback = std::function<void(const std::string& name)>;
  FileWatcher(Loop& loop, Fd fd);
  Result<int> subscribe(const std::filesystem::path& path, std::uint32_t mask, Callback changed);
  void drain();

  struct Subscriber {
    int watch = 0;  // the kernel's number; one for each file, whoever asks
    std::uint32_t mask = 0;
    Callback changed;
  };
  Fd fd_;
  std::map<int, Subscriber> subscribers_;
  int next_id_ = 0;
  Watch watch_;
};

}  // namespace trainward::daemon
