// What counters have been shown as: kept in the state folder before anybody sees it, so that the
// next daemon shows no less. Time that goes on is counted before it is booked, and may be booked to
// another phase in the end (docs/metrics.md).
//
// A file of JSON. One that cannot be read, or is of another history of the run, counts for nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "common/base/error.hpp"

namespace trainward::metrics {

struct Shown {
  struct Program {
    std::int64_t began_ms = 0;  // its first attempt, by which a history is known; 0: no attempt yet
    std::map<std::pair<std::string, std::string>, std::int64_t> spans;  // by phase and cause
    std::int64_t tokens = 0;
    friend bool operator==(const Program&, const Program&) = default;
  };
  std::map<std::string, Program> programs;
  std::string boot;                    // what `host` is of
  std::map<std::string, double> host;  // seconds
  friend bool operator==(const Shown&, const Shown&) = default;
};

Shown read_shown(const std::filesystem::path& state_folder);
Status keep_shown(const std::filesystem::path& state_folder, const Shown& shown);

}  // namespace trainward::metrics
