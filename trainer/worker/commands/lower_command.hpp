// trainward-worker lower: the programs that a device would be given, as StableHLO text.
#pragma once

#include <filesystem>
#include <string>

#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct LowerOptions {
  std::string config_file;
  std::filesystem::path out;  // a folder; made when it is missing
};

// Writes OUT/NAME.mlir for each program, and says what each is. Exit codes as the other commands.
int run_lower(const LowerOptions& options, const CommandPorts& ports);

// Adds the command to the app.
void add_lower(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
