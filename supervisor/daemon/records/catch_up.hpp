// A run database that is older than what lies beside it: a backup that was put back, a snapshot of
// a machine, one whose newest commits a power cut or a lost -wal has taken.
//
// Attempts that it does not know have folders. They are told once more (replay.hpp), so that
// history is whole, no number is given twice, and a worker that lives is taken over.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "supervisor/daemon/records/replay.hpp"

namespace trainward::daemon {

// In one transaction. Returns how many attempts the database did not know; usually 0, after a look
// at the names of folders.
Result<std::int64_t> catch_up(store::Store& store, const Paths& paths,
                              const config::Program& program, const CrashRules::Reader& read_logs);

}  // namespace trainward::daemon
