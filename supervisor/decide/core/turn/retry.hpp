// Whether there is a next attempt, when, and what is done before it: a ladder for each class,
// climbed one rung an attempt that made no progress, and remembered until one does.
#pragma once

#include <cstdint>
#include <string>

#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/decide/core/turn/classify.hpp"

namespace trainward::core {

struct Next {
  enum class Kind { at_once, after_wait, finished, give_up } kind = Kind::at_once;
  std::int64_t wait_ms = 0;
  std::string why;  // for the operator, when it gives up or waits
};

// `state.attempts_without_progress` already counts the attempt that ended.
Next decide_next(const State& state, const Policy& policy, const Verdict& verdict);

// The next rung for this verdict. Rungs that are not possible here (no reset command, no board, no
// smaller plan, no older checkpoint) are passed over. `state.rungs` moves; `deterministic` skips
// the plain retries.
Remedy climb(State& state, const Policy& policy, Cause cause, bool deterministic);

// first · 2^(failures − 1), at most max, then spread over [half, whole] by a hash of `salt`:
// programs that failed together do not come back together.
std::int64_t backoff_ms(const Backoff& backoff, int failures, std::uint64_t salt);

}  // namespace trainward::core
