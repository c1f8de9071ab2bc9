// What the daemon tells a shim to run: the file `launch.json` in the attempt's folder (mode 0600,
// because the worker's environment may hold tokens).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace trainward {

struct LaunchSpec {
  std::string run;  // program name
  std::int64_t attempt = 0;
  std::string nonce;              // committed with the intent; also in the worker's environment
  std::vector<std::string> argv;  // argv[0] is an absolute path or is looked up in PATH
  std::map<std::string, std::string> environment;  // the worker's whole environment
  std::filesystem::path directory;                 // working directory

  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

// The names inside an attempt's folder.
namespace attempt_files {
inline constexpr const char* launch = "launch.json";
inline constexpr const char* journal = "journal.ndjson";
inline constexpr const char* standard_output = "stdout.log";
inline constexpr const char* standard_error = "stderr.log";
inline constexpr const char* shim_log = "shim.log";
}  // namespace attempt_files

std::string to_json_text(const LaunchSpec& spec);
Result<LaunchSpec> read_launch_spec(const std::filesystem::path& file);

}  // namespace trainward
