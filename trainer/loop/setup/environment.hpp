// What a supervisor tells the worker through its environment (common/protocol/protocol.hpp).
//
// In: a look-up, so that tests need not change the process. Out: plain values; a variable that is
// absent leaves its value absent, which is how a worker started by hand sees them all.
// Errors: usage, for an attempt that is not a number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/error.hpp"

namespace trainward::trainer {

struct WorkerEnvironment {
  std::string run;
  std::int64_t attempt = 0;  // 0: not counted
  std::optional<std::string> checkpoint_dir;
  std::optional<std::string> resume_from;  // present and empty: told to start fresh
  std::optional<std::string> program_cache;
  std::string plan;    // JSON (attempt_plan.hpp)
  std::string memory;  // numbers of descriptors (state_in_memory.hpp); empty: none
};

// Returns nullptr for a variable that is not set, as getenv() does.
using EnvironmentLookup = std::function<const char*(const char* name)>;

Result<WorkerEnvironment> read_environment(const EnvironmentLookup& look_up);

}  // namespace trainward::trainer
