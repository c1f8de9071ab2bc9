// A run database made anew from what the shims wrote, when the old one was damaged or is gone.
//
// Comes back: every attempt with its end, its cause and its evidence, and every step; the state of
// each program, so that a worker that lives is found and none is started twice. What a worker
// reported to have saved counts as kept. Is lost, because only the database had it: events, the
// ledger of the time, what boards did, what the operator had wished (a program that is started with
// the daemon is started again unless it had finished).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/error.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/state.hpp"
#include "supervisor/daemon/crash_rules.hpp"
#include "supervisor/daemon/paths.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

// Renames the file, its -wal and its -shm, durably. Returns the new name of the first.
Result<std::filesystem::path> set_aside(const std::filesystem::path& database);

struct Rebuilt {
  std::int64_t attempts = 0;
  std::int64_t steps = 0;
};

// Into a new and empty `store`, for the programs of the configuration that have attempts, in one
// transaction with the boot id: a database without one is rebuilt.
Result<Rebuilt> rebuild(store::Store& store, const Paths& paths,
                        const std::vector<config::Program>& programs, CrashRules& rules);

// What a program goes on from whose state cannot be read. `last` is its newest attempt; one without
// an end may live, and has in its journal what nobody recorded.
core::State state_after(const store::AttemptRow& last, const std::filesystem::path& checkpoints,
                        bool autostart);

}  // namespace trainward::daemon
