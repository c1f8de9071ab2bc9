// A run database rebuilt from what the shims wrote, when the old one was damaged or is gone.
//
// Each program's past is told once more to a session (replay.hpp), which writes what it wrote then:
// attempts with their ends, causes and evidence, steps, events, the ledger of the time; and the
// state of each program, so that a worker that lives is found and none is started twice. What only
// the database had is lost; docs/database.md lists it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/crash_rules.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

struct Rebuilt {
  std::int64_t attempts = 0;
  std::int64_t steps = 0;
};

// Into a new and empty `store`, for the programs of the configuration that have attempts, in one
// transaction with the boot id: a database without one is rebuilt.
Result<Rebuilt> rebuild(store::Store& store, const Paths& paths,
                        const std::vector<config::Program>& programs,
                        const CrashRules::Reader& read_logs);

}  // namespace trainward::daemon
