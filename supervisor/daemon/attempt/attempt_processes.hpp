// Who the processes of an attempt are: as the run database has it or, where that knows nothing yet,
// as the journal says. Either may be gone, damaged, or older than the attempt.
#pragma once

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/process/containment/attempt_signals.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

// `attempt`: its newest row, of `program`.
containment::AttemptMarks marks_of(const store::Store& store, const Paths& paths,
                                   const store::AttemptRow& attempt);

}  // namespace trainward::daemon
