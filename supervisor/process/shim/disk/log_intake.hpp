// From one of the worker's output pipes into memory, so fast that the worker never waits for us.
//
// The disk is behind: the pipe fills, and the worker is slowed to the disk's pace, as with a plain
// file. The disk does nothing at all for stall_ms: lines are dropped (whole ones, counted, with a
// line in the log that says so) until it moves again. A flood of small writes is taken
// in gulps a millisecond apart, which costs a third of the processor time of a wake-up per line.
#pragma once

#include <cstdint>

#include "common/os/fd.hpp"
#include "supervisor/process/shim/disk/disk_writer.hpp"

namespace trainward::shim {

class LogIntake {
 public:
  static constexpr std::int64_t stall_ms = 500;

  // `pipe`: the non-blocking read end; it is enlarged where the kernel allows.
  LogIntake(Fd pipe, Stream stream, DiskWriter& disk);

  // Takes what is there, a bounded amount. False when there is no more for now.
  bool pump(std::int64_t now_ms);

  // What to wait for: the descriptor to poll (-1: none), and after how many milliseconds to look
  // again without an event (-1: never).
  [[nodiscard]] int poll_fd() const { return look_again_ ? -1 : pipe_.get(); }
  [[nodiscard]] int wait_ms() const { return look_again_ ? 1 : -1; }
  [[nodiscard]] bool open() const { return static_cast<bool>(pipe_); }

 private:
  bool blocked(std::int64_t now_ms);
  bool discard();
  void resume(std::string_view rest);
  void drop(std::string_view bytes);

  Fd pipe_;
  Stream stream_;
  DiskWriter* disk_;
  std::size_t pipe_bytes_ = 64 * 1024;
  bool look_again_ = false;
  std::int64_t last_pump_ms_ = 0;
  std::int64_t blocked_since_ms_ = 0;  // 0: not
  std::uint64_t blocked_progress_ = 0;
  bool discarding_ = false;
  bool skip_line_ = false;
  bool cut_ = false;  // the line in front of the gap has lost its end
  Dropped dropped_;   // since the disk stalled
};

}  // namespace trainward::shim
