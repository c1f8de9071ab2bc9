// What must be true of what an attack leaves behind: attempts, heartbeats, logs, the ledger.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "arena.hpp"

namespace trainward::chaos {

using Problems = std::vector<std::string>;

struct Audited {
  std::int64_t attempts = 0;
  std::int64_t steps = 0;
  std::int64_t lines = 0;
  std::int64_t dropped_lines = 0;     // that the logs own up to
  std::int64_t dropped_messages = 0;  // that the journals own up to
  std::int64_t never_launched = 0;    // the daemon ended between the decision and the launch
};

// "PROGRAM/ATTEMPT" whose log, or whose journal, was away for a while: what was written meanwhile
// may be missing there.
struct Spoiled {
  std::set<std::string> logs;
  std::set<std::string> journals;
  std::set<std::string> damaged;  // journals that lost what they knew
  // The run database lost something, or all: what no journal knows (seconds without an attempt,
  // what was told) is not in it any more.
  bool database = false;
};

// Every attempt of every program, once everything has ended: its end, cause and exit code; each
// heartbeat of its journal once in the run database; each numbered line once in its logs, in order.
Audited audit_attempts(const Arena& arena, const Spoiled& spoiled, Problems& problems);

// The time booked for the programs that were wanted all the time is the time that passed, of which
// `unwanted_ms` may be missing.
void audit_ledger(const Arena& arena, std::int64_t passed_ms, std::int64_t unwanted_ms,
                  const Spoiled& spoiled, Problems& problems);

// What is outside is as it was, and checkpoints have arrived where they were to go.
void audit_folders(const Arena& arena, Problems& problems);

// The groups of this state folder.
std::vector<std::filesystem::path> cgroups_of(const Arena& arena);

}  // namespace trainward::chaos
