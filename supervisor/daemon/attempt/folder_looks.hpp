// Looks at the folders and files of a program that is not our worker, off the loop: any of them may
// lie on a file system that hangs, and a folder may hold a hundred thousand files.
//
// It owns what it uses: a look that hangs may outlive the daemon. One look at a time; the caller
// sees to that. A look first makes sure that everything that exists is watched, so what changes
// after it is told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/daemon/loop/file_watcher.hpp"
#include "supervisor/evidence/foreign/checkpoints/settled.hpp"
#include "supervisor/evidence/foreign/formats/unpaired_log.hpp"
#include "supervisor/evidence/foreign/status_file.hpp"
#include "supervisor/evidence/foreign/terms/foreign_report.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::daemon {

// Watches on paths, set again where another file has replaced the one that was watched.
class WatchedPaths {
 public:
  // Whether a watch was begun.
  bool folder(const FileWatcher::Handle& watcher, const std::filesystem::path& path,
              std::function<void(const FileWatcher::Names&)> changed);
  bool file(const FileWatcher::Handle& watcher, const std::filesystem::path& path,
            std::function<void()> changed);
  // Ends the watches on all other paths.
  void keep_only(const std::set<std::filesystem::path>& paths);

 private:
  struct Watched {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    FileWatcher::Subscription subscription;
  };
  bool is_watched(const std::filesystem::path& path, Watched& found);
  std::map<std::filesystem::path, Watched> paths_;
};

class FolderLooks {
 public:
  struct Listener {  // called on the loop
    std::function<void(const FileWatcher::Names&)> entries;
    std::function<void()> status;
    std::function<void()> checkpoint;  // something in one that is a folder
  };
  // Files last written before `launched_ns` belong to earlier attempts.
  FolderLooks(FileWatcher::Handle watcher, foreign::WatchSpec spec, foreign::Folders folders,
              std::int64_t launched_ns, std::int64_t kept_step, Listener listener);

  foreign::Events status();
  struct Found {
    std::vector<foreign::Candidate> settled;  // the newest last; with the step inside, if need be
    std::vector<foreign::PassedOver> passed_over;
    std::optional<foreign::TrainerLog> log;  // that the newest of them holds
    bool waiting = false;                    // one has to be looked at again
  };
  Found checkpoints(bool writer_gone);
  // Of these, which an output has named, those that lie in the program's folders; of many the
  // newest.
  foreign::Events inside(foreign::Events checkpoints) const;

 private:
  void watch();
  bool watch_inside(const std::vector<foreign::Candidate>& candidates);

  FileWatcher::Handle watcher_;
  foreign::WatchSpec spec_;
  foreign::Folders folders_;
  foreign::EarlierFile earlier_;  // at the place of the status file
  Listener listener_;
  WatchedPaths watched_;
  foreign::StatusFile status_;
  foreign::SettledCheckpoints checkpoints_;
  WatchedPaths inside_;  // of checkpoints that are folders
};

}  // namespace trainward::daemon
