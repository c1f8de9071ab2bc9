// What a simulated board suffers from, read from a JSON object.
//
// Units: bytes of the whole board, milliseconds, attempts as the supervisor counts them
// (from 1), steps done by the process; others are in the names. Every key may be absent; an unknown
// one is an error of kind usage. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::n300 {

// The moment a fault strikes: at the first program of a step, in one attempt.
struct Moment {
  std::int64_t attempt = 0;
  std::int64_t after_steps = 0;  // steps that attempt does before it
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct SlowCompile {
  std::int64_t attempt = 0;
  std::int64_t ms_per_op = 0;  // instead of compile_ms_per_op
  friend bool operator==(const SlowCompile&, const SlowCompile&) = default;
};

// A chip that computes `factor` times as long as the others.
struct SlowChip {
  std::string chip;  // on its board: "R"
  double factor = 1;
  friend bool operator==(const SlowChip&, const SlowChip&) = default;
};

// What carries sums over chips: one at a time, each at this rate and with this latency.
struct Link {
  double gb_per_s = 0;
  double latency_us = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

// A bit of a parameter that turns over in one chip's memory, during an update.
struct Flip {
  Moment moment;
  std::string chip;
  std::int64_t bit = 0;  // of the first result of the first update, from its beginning
  friend bool operator==(const Flip&, const Flip&) = default;
};

// How a refused allocation is told: as Tenstorrent's plugin does, error 13 without a text and the
// reason on stderr, or as XLA's plugins do, RESOURCE_EXHAUSTED with the reason in the error.
enum class OutOfMemory { error_13, resource_exhausted };

struct FaultScript {
  std::int64_t chips = 2;                 // where no plan names them
  std::uint64_t dram_bytes = 0;           // 0: 12 GiB a chip
  std::uint64_t base_bytes = 0;           // in use before the first buffer
  std::uint64_t leak_bytes_per_step = 0;  // taken by each step, given back by a new process
  OutOfMemory oom = OutOfMemory::error_13;
  std::optional<Moment> hang = std::nullopt;           // a program never returns
  std::optional<Moment> abort = std::nullopt;          // the process ends with SIGABRT
  std::optional<Moment> ethernet_loss = std::nullopt;  // the second chip no longer answers
  std::optional<SlowChip> slow_chip = std::nullopt;
  std::optional<Link> link = std::nullopt;  // sums take no time
  std::optional<Flip> flip = std::nullopt;
  std::int64_t compile_ms_per_op = 0;
  std::optional<SlowCompile> slow_compile = std::nullopt;
  std::optional<std::int64_t> corrupt_kernel_cache = std::nullopt;  // in this attempt
  bool dead_second_chip = false;         // one device; programs for two are refused
  bool loads_executables = true;         // false: as the real plugin, which only serializes
  bool compiles_without_device = false;  // the real plugin cannot

  // For this attempt; 0: does not wait.
  [[nodiscard]] std::int64_t compile_ms_per_op_in(std::int64_t attempt) const {
    return slow_compile && slow_compile->attempt == attempt ? slow_compile->ms_per_op
                                                            : compile_ms_per_op;
  }
};

// An empty one is a board without faults. `where` names it in errors.
Result<FaultScript> read_fault_script(const json::object& script, std::string_view where);

}  // namespace trainward::n300
