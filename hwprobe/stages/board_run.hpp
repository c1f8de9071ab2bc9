// One board's way through the stages. Passive: the loop of run_stages calls turn() whenever the
// child has said something or the time of wake() has come.
//
//   locking ──> finding an earlier child gone ──> running ──> (killed) ──> next stage … ──> done
//      └─ locked, not started      └─ stuck                       └─ stuck
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/line_splitter.hpp"
#include "hwprobe/stages/board_state.hpp"
#include "hwprobe/stages/child.hpp"
#include "hwprobe/stages/run_stages.hpp"

namespace trainward::hwprobe {

class BoardRun {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  BoardRun(std::string board, std::span<const Stage> stages, std::filesystem::path state_folder,
           Processes& processes, const RunLimits& limits, Instant now);
  ~BoardRun();  // kills the child, if any
  BoardRun(const BoardRun&) = delete;
  BoardRun& operator=(const BoardRun&) = delete;

  void turn(Instant now);
  [[nodiscard]] bool done() const { return phase_ == Phase::done; }
  // To be polled; -1: nothing.
  [[nodiscard]] int output() const { return phase_ == Phase::running ? child_.output.get() : -1; }
  [[nodiscard]] Instant wake() const { return wake_; }
  [[nodiscard]] const BoardLook& look() const { return look_; }

 private:
  enum class Phase { locking, earlier_child, running, killed, done };

  void take_lock(Instant now);
  void check_earlier_child(Instant now);
  void start_next(Instant now);
  void listen();
  void take_line(std::string_view line);
  void watch_running(Instant now);
  void watch_killed(Instant now);
  void kill(Ending ending, std::string detail, Instant now);
  void end_stage(int status, Instant now);
  void end_as(Ending ending, std::string detail, Instant now);
  void finish(Ending ending, std::string detail, Instant now);
  [[nodiscard]] bool may_start(const Stage& stage) const;
  StageResult result(Ending ending, std::string detail, Instant now);

  BoardLook look_;
  std::span<const Stage> stages_;
  std::filesystem::path state_folder_;
  Processes& processes_;
  RunLimits limits_;

  Phase phase_ = Phase::locking;
  Instant phase_end_;  // of the waiting for a lock, an earlier child, a stage, a killed child
  Instant wake_;
  std::optional<BoardState> state_;
  std::optional<LeftChild> left_;
  std::size_t stage_ = 0;
  Instant stage_begin_;
  Child child_;
  bool listening_ = false;
  std::size_t bytes_ = 0;
  LineSplitter lines_;
  StageResult current_;
  Ending killed_as_ = Ending::deadline;
  std::chrono::milliseconds pause_{1};  // between two looks whether the child has ended
};

}  // namespace trainward::hwprobe
