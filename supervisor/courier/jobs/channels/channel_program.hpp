// A program run for a message: no shell, its own process group, ended with all of it when it takes
// too long. What it prints is not kept.
#pragma once

#include <cstdint>
#include <stop_token>

#include "common/base/error.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

struct ProgramEnd {
  enum class Kind { exited, killed, too_slow };
  Kind kind = Kind::exited;
  int status = 0;  // exit status, or the signal that killed it
};

// Kind transient: it could not be started (what is missing may be installed later), or `stop` came
// first, which ends it.
Result<ProgramEnd> run_program(const ProgramCall& call, std::int64_t most_ms,
                               const std::stop_token& stop);

}  // namespace trainward::courier
