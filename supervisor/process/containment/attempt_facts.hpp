// What an attempt's journal says about its shim and how it ended, read from its first and last
// records only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/os/processes/process_id.hpp"

namespace trainward::containment {

struct AttemptFacts {
  std::filesystem::path folder;
  std::optional<ProcessId> shim;    // from "started"
  std::optional<ProcessId> worker;  // from "started"
  std::filesystem::path cgroup;     // from "started"; empty: none
  bool settled = false;             // the last record says that it ended, and left nothing
};

// Of the fields of a "started" record: shim, worker and cgroup.
void take_processes(AttemptFacts& facts, const json::object& started);

AttemptFacts read_attempt(const std::filesystem::path& folder);

struct AttemptFolder {
  std::int64_t number = 0;
  std::filesystem::path folder;
};
// Every folder with a number for a name, oldest first.
std::vector<AttemptFolder> attempt_folders(const std::filesystem::path& attempts);

// The two attempts with the highest numbers, newest first. (The newest may be one that was decided,
// but never started.)
std::vector<AttemptFacts> newest_attempts(const std::filesystem::path& attempts);

// The folder of attempt "7" or "0007".
std::optional<std::filesystem::path> find_attempt(const std::filesystem::path& attempts,
                                                  const std::string& number);

// The process of this user that was started as the shim of this folder, whatever its journal says.
// Reads /proc of all processes, which may hang with one of them.
std::optional<ProcessId> shim_by_name(const std::filesystem::path& folder);

// The shim of this attempt runs: the process its journal names, or (before its first record) a
// process that was started for this folder.
bool shim_lives(const std::filesystem::path& folder);

// Every attempt that was started has ended, and its shim left nothing.
bool last_attempt_settled(const std::filesystem::path& attempts);

}  // namespace trainward::containment
