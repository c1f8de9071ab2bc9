#include "supervisor/decide/core/exit_codes.hpp"

#include <algorithm>
#include <array>

#include "common/protocol/protocol.hpp"
#include "supervisor/decide/core/cause.hpp"

namespace trainward::core {

int exit_code_of(const State& state) {
  const bool done = state.stage == Stage::exited && state.history.last_cause == Cause::done;
  const bool never_started = state.stage == Stage::stopped && state.attempt == 0;
  if (done || (never_started && !state.wanted)) return exit_code::done;
  if (state.stage == Stage::exited) return exit_code::failed;
  if (state.stage == Stage::fatal) return facts(state.history.last_cause).exit_status;
  return exit_code::try_again;  // not finished, whatever it was doing
}

int worse_exit_code(int one, int other) {
  constexpr std::array worst_first{exit_code::do_not_requeue, exit_code::configuration,
                                   exit_code::failed, exit_code::try_again};
  const auto rank = [&](int code) { return std::ranges::find(worst_first, code); };
  return rank(one) <= rank(other) ? one : other;
}

}  // namespace trainward::core
