#include "supervisor/core/remedy.hpp"

#include <algorithm>
#include <array>

namespace trainward::core {
namespace {

using enum Remedy;

bool is_any(std::string_view cause, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), cause) != of.end();
}

bool possible(Remedy remedy, State& state, const Policy& policy) {
  switch (remedy) {
    case retry:
    case stop:
    case purge_caches:
      return true;
    case reset_board:
      return policy.can_reset;
    case shrink_plan:
      return state.plan.rung + 1 < static_cast<int>(plan_ladder(policy.shrinking).size());
    case older_checkpoint:
      return state.resume_step > 0 || state.kept_step > 0;
    case quarantine_board:
      return !state.board.empty();
  }
  return false;
}

}  // namespace

std::string_view to_string(Remedy remedy) {
  constexpr std::array<std::string_view, 7> names{
      "retry", "reset_board", "purge_caches", "shrink_plan", "older_checkpoint", "quarantine_board",
      "stop"};
  return names.at(static_cast<std::size_t>(remedy));
}

std::vector<Remedy> ladder(std::string_view cause) {
  if (cause == "device_oom") {
    return {retry,       shrink_plan, shrink_plan, shrink_plan,      shrink_plan,
            shrink_plan, shrink_plan, reset_board, quarantine_board, stop};
  }
  if (cause == "host_oom") return {retry, shrink_plan, shrink_plan, shrink_plan, stop};
  if (cause == "hang") return {retry, reset_board, purge_caches, quarantine_board, stop};
  if (is_any(cause, {"ethernet", "device_lost"})) {
    return {reset_board, reset_board, quarantine_board, retry, stop};
  }
  if (cause == "device_busy") return {retry, retry, reset_board, quarantine_board, retry, stop};
  if (cause == "cache_corrupt") return {purge_caches, purge_caches, stop};
  if (is_any(cause, {"nan", "loss_spike"})) {
    return {older_checkpoint, older_checkpoint, older_checkpoint, stop};
  }
  if (cause == "data") return {retry, older_checkpoint, stop};
  if (cause == "resume_contract") return {retry, stop};
  // What a wait may cure is waited for, as long as the budgets last.
  if (is_any(cause, {"network", "disk", "start_failed", "try_again", "killed", "lost",
                     "machine_restart", "no_board", "planned_restart", "memory_leak"})) {
    return {retry};
  }
  return {retry, retry, reset_board, purge_caches, older_checkpoint, quarantine_board, stop};
}

Remedy climb(State& state, const Policy& policy, const std::string& cause, bool deterministic) {
  const std::vector<Remedy> rungs = ladder(cause);
  int& rung = state.rungs[cause];
  while (rung < static_cast<int>(rungs.size())) {
    const Remedy remedy = rungs.at(static_cast<std::size_t>(rung));
    // The last rung is not left again.
    if (remedy == stop || rungs.size() == 1) break;
    ++rung;
    if (deterministic && remedy == retry) continue;
    if (possible(remedy, state, policy)) return remedy;
  }
  if (rungs.back() != stop) return retry;
  // At the end of the ladder only proof that nothing changes stops a run before its budgets do.
  const bool hopeless =
      deterministic || is_any(cause, {"nan", "loss_spike", "cache_corrupt", "resume_contract"});
  return hopeless ? stop : retry;
}

}  // namespace trainward::core
