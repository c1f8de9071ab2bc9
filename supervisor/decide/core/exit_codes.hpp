// What `trainwardd --once` ends with, in the exit codes of common/protocol.
#pragma once

#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

// Of one program, at its end or wherever it was stopped.
int exit_code_of(const State& state);

// Of two programs: what nobody may overlook hides neither behind an end that is worth another try
// nor behind a good one.
int worse_exit_code(int one, int other);

}  // namespace trainward::core
