// A helper that prints a line every now and then and may hang in the kernel: started, listened to,
// ended when it falls silent, started again after a pause.
//
//   running ──silence──> killed ──ended──> pausing ──> running
//                          └─ outlives SIGKILL ──> stuck ──ended, at last──> pausing
//
// Nothing here blocks. Of a helper that does not end, `memory` remembers the process, so that the
// next daemon does not start a second one beside it. Destroying this kills the helper and waits for
// nothing: the reaper collects it (reaper.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hwprobe/stages/processes.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

class SampleStream {
 public:
  struct Settings {
    std::vector<std::string> argv;
    std::string name;              // of what is watched: a file's name in `memory`
    std::filesystem::path memory;  // a folder of the daemon's
    std::int64_t silence_ms = 0;   // longest time from a line to the next
    std::int64_t kill_grace_ms = 1'000;
    std::int64_t pause_ms = 60'000;
  };
  struct Trouble {
    bool stuck = false;  // it hangs in the kernel, and does not even end
    std::string text;
  };
  // Both are called on the loop, and may destroy the stream.
  struct Listener {
    std::function<void(std::string_view line)> line;
    std::function<void(const Trouble&)> trouble;
  };

  // `processes` must outlive this.
  SampleStream(Loop& loop, hwprobe::Processes& processes, Settings settings, Listener listener);
  ~SampleStream();
  SampleStream(const SampleStream&) = delete;
  SampleStream& operator=(const SampleStream&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::daemon
