// What to do about a failed attempt besides starting again: a ladder for each class, climbed one
// rung an attempt that made no progress, and remembered until one does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/core/classify.hpp"
#include "supervisor/core/policy.hpp"
#include "supervisor/core/state.hpp"

namespace trainward::core {

enum class Remedy {
  retry,
  reset_board,
  purge_caches,
  shrink_plan,
  older_checkpoint,
  quarantine_board,
  stop,
};

std::string_view to_string(Remedy remedy);

// The ladder of a class, as it is climbed when every rung is possible.
std::vector<Remedy> ladder(std::string_view cause);

// The next rung for this verdict. Rungs that are not possible here (no reset command, no board, no
// smaller plan, no older checkpoint) are passed over. `state.rungs` moves; `deterministic` skips
// the plain retries.
Remedy climb(State& state, const Policy& policy, const std::string& cause, bool deterministic);

}  // namespace trainward::core
