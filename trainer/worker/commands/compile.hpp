// trainward-worker compile: puts a run's programs into the program cache without touching a device,
// where its plugin can compile without one: while a board is being reset, or before it is there.
#pragma once

#include <string>

#include "trainer/loop/setup/environment.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct CompileOptions {
  std::string config_file;
};

// The cache and the plan are the environment's ($TRAINWARD_PROGRAM_CACHE, $TRAINWARD_PLAN). Exit
// codes as the other commands; 0 as well when there is nothing it can do, which it says.
int run_compile(const CompileOptions& options, const WorkerEnvironment& environment,
                const CommandPorts& ports);

// Adds the command to the app.
void add_compile(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
