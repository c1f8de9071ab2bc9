// What the folder of an attempt tells of how it began.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "supervisor/daemon/base/paths.hpp"

namespace trainward::daemon {

struct PastAttempt {
  std::int64_t number = 0;
  std::filesystem::path folder;
  Time launched;        // mono_ms of the machine's start it belongs to
  std::string boot_id;  // that start; empty: not known
  std::string nonce;
  std::vector<std::string> boards;  // serials; empty: it ran without one, or nobody knows
  std::string mesh;                 // "2x4"; empty: none, or nobody knows
  std::string full_mesh;            // the one that was too large for the host; empty: it was whole
  std::int64_t chips = 0;           // of `mesh`
  std::string resume_from;          // checkpoint, as the worker was told; empty: none
  std::int64_t resume_step = 0;
  std::string plan;    // JSON, as it was recorded
  bool lives = false;  // its shim does
};

// Those from number `first` on, oldest first.
std::vector<PastAttempt> past_attempts(const Paths& paths, const std::string& program,
                                       std::int64_t first = 1);

}  // namespace trainward::daemon
