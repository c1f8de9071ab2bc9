// Two state slots, written in turn beside the caller's work: an interrupted copy leaves the other.
//
//   newest()   what is there to begin from, before anything is written
//   reserve()  a thread takes the memory for both
//   begin()    the thread copies into the older one; the tensors must not change until
//   wait()     it has ended
//
// One copy at a time, and none while memory is being taken: begin() is refused then, and changes
// nothing. One thread uses a SlotPair; its own lives as long as it.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "checkpoint/state_slot.hpp"

namespace trainward::checkpoint {

class SlotPair {
 public:
  explicit SlotPair(std::array<StateSlot, 2> slots);
  SlotPair(const SlotPair&) = delete;
  SlotPair& operator=(const SlotPair&) = delete;
  ~SlotPair();  // waits for what is running

  // Those that say that they are complete, the later step first.
  [[nodiscard]] std::vector<StateSlot*> newest();
  // The others that hold something, which nobody can begin from.
  [[nodiscard]] std::vector<const StateSlot*> incomplete() const;
  [[nodiscard]] std::uint64_t allocated() const;
  void clear();

  void reserve(Contents contents);
  // False: something is running.
  bool begin(Contents contents);

  struct Outcome {
    std::int64_t step = -1;  // of a copy; -1: memory was taken
    Status done;
    std::chrono::nanoseconds processor{};  // its thread's time
  };
  // What was begun and has no outcome that was taken yet; a copy, or anything.
  [[nodiscard]] bool copying() const { return begun_ && copying_; }
  [[nodiscard]] bool running() const { return begun_; }
  // Empty: nothing was begun since the last outcome.
  std::optional<Outcome> wait();
  std::optional<Outcome> take();  // empty also while it is running

 private:
  void start(std::function<Outcome()> job);
  void serve(const std::stop_token& stop);

  std::array<StateSlot, 2> slots_;
  std::size_t next_ = 0;  // which is written into
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<Outcome()> job_;    // to be done
  std::optional<Outcome> outcome_;  // not taken yet
  bool begun_ = false;              // and not taken; the caller's thread's
  bool copying_ = false;            // that is a copy
  std::jthread thread_;
};

}  // namespace trainward::checkpoint
