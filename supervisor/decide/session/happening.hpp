// What happened to a program, at its own time, and the journal of an attempt as such.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "common/protocol/worker_sample.hpp"
#include "supervisor/decide/core/event.hpp"

namespace trainward::session {

// A program that a worker has compiled or found in its cache. For the record, not for the core.
struct CompiledProgram {
  std::string name;
  std::string key;
  bool hit = false;
  std::int64_t ms = 0;
  std::string dropped;  // why an entry of the cache was thrown away first, or empty
};

// The processes of an attempt, as its shim names them when it begins: enough to know them again
// when their numbers may be others' by then. For the record, not for the core.
struct AttemptProcesses {
  std::int64_t worker_pid = 0;
  std::int64_t worker_start_ticks = 0;
  std::int64_t shim_pid = 0;
  std::int64_t shim_start_ticks = 0;
  std::string boot_id;
  std::string cgroup;  // folder of the worker's; empty: it has none
};

struct Happening {
  core::Event event;
  Time at;
  std::optional<CompiledProgram> compiled = {};    // told of in the same message
  std::optional<WorkerSample> sample = {};         // likewise, and for the record too
  std::optional<AttemptProcesses> processes = {};  // of WorkerStarted
};

// Some records of an attempt's journal, in their order.
struct JournalPiece {
  std::vector<Happening> said;
  std::optional<Happening> ending;  // WorkerExited, or LaunchFailed when it could not be started
  std::int64_t ending_offset = 0;   // of its record
  std::int64_t next_offset = 0;     // where the next piece begins
  bool more = false;                // there is one already
};

// How much of an attempt's journal is part of a state.
struct JournalPlace {
  std::int64_t attempt = 0;
  std::int64_t offset = 0;
};

// What the logs of an attempt say of its end.
struct LogEvidence {
  std::vector<core::LogMatch> matches;  // strongest first
  core::LastWords last_words;
  std::vector<std::string> last_lines = {};  // as of WorkerExited
};

}  // namespace trainward::session
