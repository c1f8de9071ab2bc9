// Watches one attempt of a program that is not our worker: its status file, its output and its
// checkpoint files, as events of the core.
//
// In: changes of files, told by inotify. Out: each event once, to `sink`, on the loop; those that
// were read together come together, so that they can be committed together.
// Nothing is polled. One timer exists, and only while a checkpoint file may still be growing: that
// a file has stopped to change is nothing anybody tells.
// A new daemon gives what is known of the attempt and gets what happened meanwhile; what was
// counted is not told again. What was written before the launch belongs to earlier attempts.
// Failure: a folder that cannot be watched is logged and looked at when something else changes, and
// when the attempt ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/daemon/file_watcher.hpp"
#include "supervisor/daemon/log_tail.hpp"
#include "supervisor/daemon/loop.hpp"
#include "supervisor/foreign/checkpoint_watch.hpp"
#include "supervisor/foreign/earlier_file.hpp"
#include "supervisor/foreign/log_watch.hpp"
#include "supervisor/foreign/report.hpp"
#include "supervisor/foreign/spec.hpp"
#include "supervisor/foreign/status_file.hpp"

namespace trainward::daemon {

class ForeignWatch {
 public:
  // What is known of the attempt already: nothing at its launch.
  struct Known {
    std::int64_t seen_step = 0;  // newest step of this attempt that was counted; 0: none
    std::int64_t kept_step = 0;  // newest checkpoint that was verified
  };

  // `attempt_folder` holds launch.json, written just before the launch, and the logs. `sink` must
  // not destroy this object.
  ForeignWatch(Loop& loop, FileWatcher& watcher, foreign::WatchSpec spec, foreign::Folders folders,
               std::filesystem::path attempt_folder, Known known,
               std::function<void(foreign::Events)> sink);
  ~ForeignWatch();
  ForeignWatch(const ForeignWatch&) = delete;
  ForeignWatch& operator=(const ForeignWatch&) = delete;

  // The program and all it started are gone: reads what is left, and takes every file as complete.
  void finish();

 private:
  struct Log {
    LogTail tail;
    foreign::LogWatch lines;
  };

  void watch_folders();
  void watch_logs();
  void watch_folder(const std::filesystem::path& folder);
  void watch_file(const std::filesystem::path& file, std::function<void()> changed);
  void on_entry(const std::filesystem::path& folder, const std::string& name);
  void read_status();
  bool read_logs();  // false: there is more
  void read_logs_soon();
  void look_for_checkpoints(bool writer_gone);
  void tell(foreign::Events events);

  Loop& loop_;
  FileWatcher& watcher_;
  foreign::WatchSpec spec_;
  foreign::Folders folders_;
  std::filesystem::path attempt_folder_;
  std::function<void(foreign::Events)> sink_;
  std::int64_t launched_ns_ = 0;  // on the clock of files
  foreign::Progress progress_;
  foreign::EarlierFile earlier_;  // at the place of the status file
  foreign::StatusFile status_;
  std::vector<Log> logs_;
  foreign::CheckpointWatch checkpoints_;
  std::map<std::filesystem::path, int> watched_;  // file or folder → subscription
  bool reading_soon_ = false;
  Timer settle_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon
