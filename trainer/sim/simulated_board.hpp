// The memory and the faults of a simulated N300, for runs on machines without a card.
//
// In: a script of what the board suffers from. The board keeps an account of its device memory,
// base + leak × (steps done in this process), as a real board whose driver leaks does: a new
// process starts from the base again. Out: for each step whether it can run, hangs, or does not
// fit. No clock, no thread, no memory taken beyond this object. Units are bytes of the whole board.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/error.hpp"

namespace trainward::trainer {

struct BoardScript {
  struct Hang {
    std::int64_t attempt = 0;      // the attempt that hangs (the supervisor counts from 1)
    std::int64_t after_steps = 0;  // steps that attempt does before it
  };
  std::uint64_t dram_bytes = std::uint64_t{24} << 30;
  std::uint64_t base_bytes = 0;           // in use before the first step
  std::uint64_t leak_bytes_per_step = 0;  // taken by each step and never given back
  std::optional<Hang> hang = std::nullopt;
};

enum class BoardAnswer {
  ready,  // the step can run
  hangs,  // the step never returns
};

class SimulatedBoard {
 public:
  // `attempt`: which start of the run this process is; 0 when nobody counts.
  SimulatedBoard(BoardScript script, std::int64_t attempt);

  // Called before each step; takes the step's memory. The error (kind transient: a new process has
  // the memory back) is the sentence the real allocator prints.
  Result<BoardAnswer> begin_step();

  [[nodiscard]] std::uint64_t used_bytes() const { return used_; }

 private:
  BoardScript script_;
  std::int64_t attempt_;
  std::int64_t steps_done_ = 0;
  std::uint64_t used_;
};

// What the real stack leaves on stderr when the allocator has said `sentence`.
std::string as_the_device_prints_it(const std::string& sentence);

// Blocks for ever, as a step on a stuck device does: signal handlers run, the step goes on hanging.
[[noreturn]] void hang_for_ever();

}  // namespace trainward::trainer
