// What the daemon tells a shim to run: the file `launch.json` in the attempt's folder (mode 0600,
// because the worker's environment may hold tokens). The shim reads it once, at its start. When the
// attempt has ended the file is shortened to what is still of use, and has the mode 0640.
//
// Version 2; 3 when it has `user`, `umask` or `limits`, 4 when it has `stop_signal`, which a shim
// must not pass over. Version 1 had none of the members from `log_max_bytes` on; it is read with
// their defaults. A newer version is refused.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/credentials.hpp"
#include "common/os/folder.hpp"
#include "common/wire/resource_limits.hpp"

namespace trainward {

struct LaunchSpec {
  std::string run;  // program name
  std::int64_t attempt = 0;
  std::string nonce;              // committed with the intent; also in the worker's environment
  std::vector<std::string> argv;  // argv[0] is an absolute path or is looked up in PATH
  std::map<std::string, std::string> environment;  // the worker's whole environment
  std::filesystem::path directory;                 // working directory

  std::int64_t log_max_bytes = 64 * 1024 * 1024;  // a log file is rotated before it grows longer
  int log_keep = 5;                               // rotated files that stay, beside the current one
  std::string cgroup;                // name of the worker's cgroup; empty: made from the nonce
  std::string containment = "auto";  // auto, cgroup2, cgroup1 or none: what may be used
  std::optional<std::int64_t> memory_limit_bytes;  // of the worker with all its helpers
  std::optional<int> oom_score_adj = 0;            // of the worker; nothing: as the shim's
  std::int64_t kill_wait_ms = 5'000;  // what lives on so long after SIGKILL is called unkillable

  std::optional<Credentials> user;    // the worker's; none: the shim's
  std::optional<unsigned> umask;      // likewise
  std::vector<ResourceLimit> limits;  // of each of its processes; what is not named stays
  int stop_signal = SIGTERM;          // asks the worker to save and exit
  // Of our own worker: where it leaves its state between checkpoints. A shim that does not know it
  // passes over it, and the worker has none.
  enum class Memory { none, fresh, take };  // take: what the attempt before has left, if it has
  Memory memory = Memory::none;

  // Of an ended attempt: argv is its first word, and the environment has only the names of its
  // variables, and the values of those that Trainward itself has set.
  bool shortened = false;

  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

// The names inside an attempt's folder.
namespace attempt_files {
inline constexpr const char* launch = "launch.json";
inline constexpr const char* journal = "journal.ndjson";
inline constexpr const char* standard_output =
    "stdout.log";  // and .1, .2, …: common/wire/log_files.hpp
inline constexpr const char* standard_error = "stderr.log";
inline constexpr const char* shim_log = "shim.log";
// In the program's folder, which holds that of its attempts (kept_state.hpp).
inline constexpr const char* kept_state = "memory.sock";
}  // namespace attempt_files

std::string to_json_text(const LaunchSpec& spec);
Result<LaunchSpec> read_launch_spec(const std::filesystem::path& file);
Result<LaunchSpec> read_launch_spec(const Folder& folder, const std::string& name);

// Of an ended attempt; keeps the file's time, which is that of the launch. Durable, and a crash
// leaves the whole file or the shortened one. A file that is shortened already, or is not there, is
// left as it is.
Status shorten_launch_file(const std::filesystem::path& file);

}  // namespace trainward
