// Tells when files grow, and when something appears in a folder: by inotify, and by looking once a
// second where inotify cannot be had or does not tell everything.
//
// Several may watch the same file or folder: programs can share a working directory.
// The kernel gives a user so many watches and no more (fs.inotify.max_user_watches and
// max_user_instances), and editors take most of them. What gets none is looked at once a second
// until it gets one, which is tried every minute. Files on file systems that other hosts write to
// are watched and looked at.
// Threads: watches may be begun and ended on any thread; callbacks come on the loop. To begin one
// takes as long as the file system does: on the loop only what lies in the state folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/daemon/loop/file_polls.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

class FileWatcher {
  struct Core;

 public:
  // Entries of a folder; empty: nobody knows which, it may be any of them.
  using Names = std::set<std::string>;

  // As long as it lives the watch does. It may outlive the watcher.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription();

   private:
    friend class FileWatcher;
    Subscription(std::shared_ptr<Core> core, int id) : core_(std::move(core)), id_(id) {}
    std::shared_ptr<Core> core_;
    int id_ = 0;
  };

  // What a job on another thread needs, which may outlive the watcher: nothing is told then.
  class Handle {
   public:
    // Calls `changed` after the file was written to; all writes of a turn are one call. The file
    // exists; what takes its place under the same name is another file.
    Result<Subscription> add(const std::filesystem::path& file,
                             std::function<void()> changed) const;

    // Calls `changed` with the entries of the folder that were made, moved in, or closed after
    // writing, once a turn. The folder exists.
    Result<Subscription> add_folder(const std::filesystem::path& folder,
                                    std::function<void(const Names&)> changed) const;

   private:
    friend class FileWatcher;
    explicit Handle(std::shared_ptr<Core> core) : core_(std::move(core)) {}
    Result<Subscription> subscribe(const std::filesystem::path& path, std::uint32_t mask,
                                   std::function<void(const Names&)> changed) const;
    std::shared_ptr<Core> core_;
  };

  // `says` is told on the loop when polling begins and why, and when it ends: for the operator.
  explicit FileWatcher(Loop& loop, std::function<void(const std::string& text)> says = {},
                       FilePolls::Rhythm rhythm = {});
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  [[nodiscard]] Handle handle() const { return Handle(core_); }

 private:
  void listen();
  void drain();

  Loop& loop_;
  std::shared_ptr<Core> core_;
  std::optional<Watch> watch_;
};

}  // namespace trainward::daemon
