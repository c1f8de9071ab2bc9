// The state that a worker leaves in memory between checkpoints (checkpoint/state_slot.hpp), and
// takes from there.
//
//   open()     the memory that the shim has handed down, if it has
//   newest()   what the attempt before left: whole, of this run, beyond the checkpoint on the disk
//   reserve()  room for two copies, or a line that says how much is missing
//   remember() after each step: begins a copy where one is due
//   settle()   before the weights change: waits for it
//
// One thread. What cannot be used is told in a line, and costs nothing but the steps that are
// repeated.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/slot_pair.hpp"
#include "trainer/loop/checkpoints/copy_pace.hpp"
#include "trainer/loop/reporting/reporter.hpp"

namespace trainward::trainer {

// Attempts that may begin from the same state: what ends each of them may lie in it.
inline constexpr std::int64_t most_takings = 3;

class StateInMemory {
 public:
  // `numbers`: of two descriptors, as TRAINWARD_MEMORY has them; they are this process's alone from
  // then on. Null: none are named, or they are not what they should be, which is told.
  static std::unique_ptr<StateInMemory> open(const std::string& numbers, Reporter& reporter);

  StateInMemory(std::array<checkpoint::StateSlot, 2> slots, Reporter& reporter)
      : slots_(std::move(slots)), reporter_(reporter) {}

  // Of the run of this name, and of a later step. Null: no such state; why what is there is not
  // used is told. The slot lives as long as this, and must not be read once remember() was called.
  checkpoint::StateSlot* newest(const std::string& run, std::int64_t after_step);
  void clear() { slots_.clear(); }

  // `available`: what the machine can give, of which `promised` is spoken for. `spare`: as
  // CopyPace. From then on copies are made, unless there is no room.
  void reserve(checkpoint::Contents sample, std::optional<std::int64_t> available,
               std::uint64_t promised, bool spare);

  // `took`: the step. `contents` is called where a copy is due; without them none is made. True:
  // one has begun.
  bool remember(std::chrono::nanoseconds took,
                const std::function<Result<checkpoint::Contents>()>& contents);
  void settle();
  // The newest that was copied whole in this attempt; 0: none.
  [[nodiscard]] std::int64_t step() const { return step_; }

 private:
  void note(const checkpoint::SlotPair::Outcome& outcome, std::chrono::nanoseconds waited);

  checkpoint::SlotPair slots_;
  Reporter& reporter_;
  std::optional<CopyPace> pace_;         // none: no copies are made
  std::chrono::nanoseconds prepared_{};  // what the training waited for the copy that is running
  std::int64_t step_ = 0;
};

}  // namespace trainward::trainer
