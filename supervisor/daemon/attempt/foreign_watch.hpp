// Watches one attempt of a program that is not our worker: its status file, its output and its
// checkpoint files, as events of the core.
//
// In: changes of files, as FileWatcher tells them. Out: each event once, to `sink`, on the loop;
// those that were read together come together, so that they can be committed together.
// The program's folders are looked at off the loop, at most five times a second however often they
// change; its output, which lies in the state folder, is read in small pieces on the loop, so that
// a flood does not hold up the other programs. Nothing is polled here. One timer exists, and only
// while a checkpoint file may still be growing: that a file has stopped to change is nothing
// anybody tells. A new daemon gives what is known of the attempt and gets what happened meanwhile;
// what was counted is not told again. What was written before the launch belongs to earlier
// attempts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/daemon/attempt/folder_looks.hpp"
#include "supervisor/daemon/attempt/log_tail.hpp"
#include "supervisor/daemon/loop/file_watcher.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/loop/paced_work.hpp"
#include "supervisor/evidence/foreign/log_watch.hpp"
#include "supervisor/evidence/foreign/step_pace.hpp"
#include "supervisor/evidence/foreign/terms/foreign_report.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::daemon {

class ForeignWatch {
 public:
  // What is known of the attempt already: nothing at its launch.
  struct Known {
    std::int64_t seen_step = 0;    // newest step of this attempt that was counted; 0: none
    std::int64_t kept_step = 0;    // newest checkpoint that was verified
    std::int64_t resume_step = 0;  // it was told to go on from here; 0: from its beginning
    // The last step that was counted up to a wall time, of this attempt; none: not known.
    std::function<std::optional<std::int64_t>(std::int64_t wall_ms)> step_at = {};
  };

  // `attempt_folder` holds launch.json, written just before the launch, and the logs. Jobs of
  // `in_background` run one after the other. `sink` must not destroy this object.
  ForeignWatch(Loop& loop, const FileWatcher& watcher, InBackground in_background,
               foreign::WatchSpec spec, const foreign::Folders& folders,
               std::filesystem::path attempt_folder, Known known,
               std::function<void(foreign::Events)> sink);
  ~ForeignWatch();
  ForeignWatch(const ForeignWatch&) = delete;
  ForeignWatch& operator=(const ForeignWatch&) = delete;

  // The program and all it started are gone: reads what is left, takes every file as complete, and
  // then calls `done`, which may destroy this object. When the program's folders do not answer,
  // `done` comes after half a minute without what lies there.
  void finish(std::function<void()> done);

 private:
  struct Log {
    LogTail tail;
    foreign::LogWatch lines;
  };

  void on_entries(const FileWatcher::Names& names);
  void watch_logs();
  bool read_logs();  // false: there is more
  void read_logs_soon();
  void tell_output(foreign::Events events);
  void hand_on(foreign::Events events);
  void tell(foreign::Events events);
  void tell_checkpoints(const FolderLooks::Found& found);
  void say_why_not(const std::filesystem::path& path, const std::string& why,
                   foreign::Events& events);
  void look_for_the_last_time();
  void end();

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Loop& loop_;
  FileWatcher::Handle watcher_;
  InBackground in_background_;
  foreign::WatchSpec spec_;
  std::filesystem::path attempt_folder_;
  std::function<void(foreign::Events)> sink_;
  std::filesystem::path directory_;
  std::function<std::optional<std::int64_t>(std::int64_t)> step_at_;
  foreign::Progress progress_;
  foreign::StepPace pace_;                           // of what is printed
  std::shared_ptr<foreign::Recognizer> recognizer_;  // null: its output is read by rules alone
  std::vector<Log> logs_;
  WatchedPaths watched_logs_;
  std::shared_ptr<FolderLooks> looks_;  // used by jobs, one at a time
  PacedWork status_look_;
  PacedWork checkpoint_look_;
  std::set<std::string> said_;  // why something that matches does not count
  bool reading_soon_ = false;
  std::function<void()> done_;
  Timer give_up_;
};

}  // namespace trainward::daemon
