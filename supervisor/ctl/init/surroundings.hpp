// What lies in a folder that a configuration is to be written for. Looks only: nothing is run but
// trainward-probe, and how much is read is bounded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/ctl/init/script.hpp"

namespace trainward::ctl {

struct Surroundings {
  std::filesystem::path script;  // relative to the folder, or absolute; empty: not found
  Script about;                  // the script
  std::vector<std::string> other_scripts;
  std::string python = "python3";   // of a virtual environment beside it, when there is one
  std::string checkpoints;          // a pattern for the files that look like checkpoints
  std::vector<std::string> texts;   // without a script: what our own worker could learn from
  std::vector<std::string> boards;  // "n300 0100014511708037: OK"
};

// `script`: the one that was named; empty: the most likely one in the folder is looked for.
Surroundings look_around(const std::filesystem::path& folder, const std::filesystem::path& script);

// A line per board that trainward-probe beside this program finds; none when there is no probe or
// it does not answer in time.
std::vector<std::string> look_for_boards();

}  // namespace trainward::ctl
