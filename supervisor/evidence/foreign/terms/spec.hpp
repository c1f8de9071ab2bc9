// By what a program is watched that is not our worker: the section `watch` of its configuration.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::foreign {

// Where a status file keeps what. The defaults fit AGILLM-3's status.json.
struct StatusKeys {
  std::string step = "step";
  std::string loss = "loss";
  std::string tokens = "seen_tok";
  std::string phase = "phase";
  std::string tokens_per_second = "tok_per_sec";
  std::string updated = "updated";  // unix time of the report
  friend bool operator==(const StatusKeys&, const StatusKeys&) = default;
};
BOOST_DESCRIBE_STRUCT(StatusKeys, (), (step, loss, tokens, phase, tokens_per_second, updated))

struct LogRule {
  std::string match;  // RE2; groups step, phase, checkpoint and the names of step_figures
  std::string phase;  // entered when it matches; empty: none
  friend bool operator==(const LogRule&, const LogRule&) = default;
};

struct WatchSpec {
  std::filesystem::path status_file;  // relative to the program's directory; empty: none
  StatusKeys keys;
  std::vector<LogRule> log;
  // How its output is read where no rule of `log` says it: "auto" (formats/recognizer.hpp), the
  // name of a format, or "off".
  std::string preset = "off";
  std::vector<std::string> checkpoints;  // see checkpoints/checkpoint_pattern.hpp
  bool cpu_time = false;                 // CPU time used is life
  bool protocol = false;                 // it speaks the worker protocol
  friend bool operator==(const WatchSpec&, const WatchSpec&) = default;
};

// What relative names in a WatchSpec mean.
struct Folders {
  std::filesystem::path directory;       // the program's working directory, absolute
  std::filesystem::path checkpoint_dir;  // TRAINWARD_CHECKPOINT_DIR, absolute
};

// What `preset` is for a command that does not say: a program that tells of its steps in another
// way is not asked again.
inline std::string_view usual_preset(const WatchSpec& spec) {
  const bool told = !spec.status_file.empty() || !spec.log.empty() || spec.protocol;
  return told ? "off" : "auto";
}

inline bool reads_output(const WatchSpec& spec) {
  return !spec.log.empty() || spec.preset != "off";
}

inline bool looks_at_folders(const WatchSpec& spec) {
  return !spec.status_file.empty() || !spec.checkpoints.empty();
}

// Nothing but its output tells of its steps, and nobody has said how.
inline bool is_only_recognised(const WatchSpec& spec) {
  return spec.preset == "auto" && usual_preset(spec) == "auto";
}

// Something outside is to be looked at: files or output of the program, by what was said of them.
inline bool watches_files(const WatchSpec& spec) {
  return !spec.status_file.empty() || !spec.log.empty() || !spec.checkpoints.empty();
}

}  // namespace trainward::foreign
