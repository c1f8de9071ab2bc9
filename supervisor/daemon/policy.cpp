#include "supervisor/daemon/policy.hpp"

namespace trainward::daemon {

core::Policy policy_of(const config::Program& program) {
  core::Policy policy;
  policy.autorestart = program.autorestart;
  policy.needs_board = program.host.has_value();
  policy.deadlines = program.deadlines;
  policy.budgets = program.budgets;
  policy.backoff = program.backoff;
  return policy;
}

}  // namespace trainward::daemon
