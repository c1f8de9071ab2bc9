// What metrics are made of: plain values, as of one moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"
#include "supervisor/decide/core/shown.hpp"

namespace trainward::metrics {

struct Spent {
  std::string phase;
  std::string cause;  // may be empty
  double seconds = 0;
};

// A loss or norm that was told and is no number is NaN; what nobody told is unset.
struct ProgramFigures {
  std::string name;
  core::Shown state = core::Shown::unknown;
  bool wanted = false;
  std::vector<Spent> spent;
  std::optional<double> effective_share;
  std::map<std::string, std::int64_t> ended;  // attempts, by cause
  std::int64_t attempt = 0;
  std::int64_t step = 0;
  std::int64_t kept_step = 0;
  std::int64_t target_step = 0;  // 0: unknown
  std::optional<std::int64_t> kept_ms, step_ms;
  std::int64_t steps_kept = 0, steps_lost = 0, steps_replayed = 0;
  StepFigures told;                 // by the newest step
  std::vector<ToldDevice> devices;  // of the attempt that runs
  std::optional<double> evaluation_loss, steps_per_second;
  std::optional<std::int64_t> tokens_processed;
  std::map<std::string, std::int64_t> checkpoints;  // by state
  std::optional<std::int64_t> checkpoint_bytes, checkpoint_save_ms;
  std::int64_t cache_hits = 0, cache_misses = 0;
};

struct BoardFigures {
  std::string serial, type, bus_id;
  bool usable = false;
  std::optional<double> temperature_c, limit_c, power_w;
  std::optional<std::int64_t> clock_mhz, aer_correctable, aer_nonfatal, aer_fatal;
};

struct DiskFigures {
  std::string folder;   // "state", "checkpoints"
  std::string program;  // empty: of none
  std::uint64_t free_bytes = 0;
};

// Of this machine, since it started; what the kernel does not tell is unset.
struct HostFigures {
  std::optional<std::int64_t> memory_bytes, available_bytes;
  std::optional<double> busy_seconds, idle_seconds, iowait_seconds;  // of all processors
  std::optional<double> stalled_cpu_seconds, stalled_io_seconds, stalled_memory_seconds;
};

// What only a running daemon knows of itself.
struct DaemonFigures {
  std::int64_t started_ms = 0;
  double loop_lag_seconds = 0;
};

// Figures of the messages and uploads, from the process that sends them.
struct CourierFigures {
  struct Channel {
    std::string name;
    std::map<std::string, std::int64_t> results;  // messages, by what became of them
    std::int64_t waiting = 0;
  };
  struct Target {
    std::string program;
    std::string name;
    std::int64_t sent_bytes = 0;
    std::optional<std::int64_t> step;  // the newest that lies there whole
    std::int64_t failures = 0;
  };
  std::vector<Channel> channels;
  std::vector<Target> targets;
};

struct Snapshot {
  std::string version;
  std::optional<DaemonFigures> daemon;  // unset: it does not answer
  std::vector<ProgramFigures> programs;
  std::vector<BoardFigures> boards;
  std::vector<DiskFigures> disks;
  HostFigures host;
  std::optional<CourierFigures> courier;
};

}  // namespace trainward::metrics
