// Work that would hold the loop up: reading and hashing checkpoints, logs, folders.
//
// Jobs of one queue run one after the other; each queue has a thread of its own while it has jobs,
// so a file system that does not answer holds up only its own callers. At most 16 threads work at
// a time, those that wait for longer than 2 s not counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

class Background {
 public:
  // An answer of a disk that is well comes sooner, but for very large checkpoints.
  static constexpr std::int64_t slow_ms = 30'000;

  using Then = std::function<void()>;

  struct Job {
    std::string what;  // "read the checkpoints in FOLDER", shown when nothing seems to happen
    // On a thread. It owns what it uses: a job that is stuck in the kernel outlives the daemon's
    // objects. What it returns is called on the loop.
    std::function<Then()> work;
    // Called on the loop, once, when the job was given `late_ms` ago and has not ended; null:
    // nobody minds. Its result still comes if it ends after all.
    std::int64_t late_ms = slow_ms;
    std::function<void()> late = {};
  };

  explicit Background(Loop& loop);
  // Waits half a second for jobs that run; one that is stuck is left behind, as the end of the
  // process ends it. Jobs that have not begun are dropped.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void run(const std::string& queue, Job job);

  struct Running {
    std::string what;
    std::int64_t since_ms = 0;  // how long it has been running
  };
  // That a job takes long, for `status` and the events.
  static std::string slow_text(const Running& job);
  // What this queue is at.
  [[nodiscard]] std::optional<Running> running(const std::string& queue) const;

 private:
  struct Shared;
  static void serve(const std::shared_ptr<Shared>& shared, std::string queue);
  void begin_waiting();
  void look();

  Timer timer_;  // armed while there are jobs
  bool looking_ = false;
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainward::daemon
