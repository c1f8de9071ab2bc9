// The command line of trainward-probe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace trainward::hwprobe {

struct ProbeOptions {
  std::string host;  // description of a host; empty: this one
  std::string root = "/";
  std::string state;      // empty: default_state_folder()
  std::string record;     // a file to be written; or empty
  std::string replay;     // a file to be read; or empty
  std::string nvidia;     // output of nvidia-smi: a file, or "-"
  std::string tt_smi;     // output of tt-smi: likewise
  std::string expected;   // cluster descriptor; empty: nothing is expected
  std::string simulator;  // library of ttsim; empty: this host's boards
  std::optional<std::chrono::milliseconds> stream;  // samples of `boards`, so often
  std::vector<std::string> boards;
  bool deep = false;
  bool draw = false;
  bool json = false;
};

struct ParsedOptions {
  std::optional<ProbeOptions> options;
  int exit_code = 0;    // nothing to do: help was asked for
  std::string problem;  // or this is wrong
};

ParsedOptions parse_options(int argc, char** argv);

}  // namespace trainward::hwprobe
