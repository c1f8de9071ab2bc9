// `trainward-worker train`: alone, as the launcher of several ranks, or as one of them.
#pragma once

#include "trainer/loop/worker.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

// `arguments`: of this process, for the ranks it may start. Returns the exit code.
int run_train(const WorkerOptions& options, char* const* arguments);

// Adds the command to the app.
void add_train(CLI::App& app, char* const* arguments, Chosen& chosen);

}  // namespace trainward::trainer
