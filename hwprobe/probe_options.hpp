// The command line of trainward-probe.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hwprobe/accelerators/accelerator.hpp"

namespace trainward::hwprobe {

struct ProbeOptions {
  std::string host;  // description of a host; empty: this one
  std::string root = "/";
  std::string state;                           // empty: default_state_folder()
  std::string record;                          // a file to be written; or empty
  std::string replay;                          // a file to be read; or empty
  std::map<std::string, std::string> printed;  // PrintedReport::option to a file, or "-"
  std::string expected;                        // cluster descriptor; empty: nothing is expected
  std::string simulator;                       // library of ttsim; empty: this host's boards
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

ParsedOptions parse_options(std::span<const Accelerator> all, int argc, char** argv);

}  // namespace trainward::hwprobe
