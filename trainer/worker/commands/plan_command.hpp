// trainward-worker plan: what a run takes of the memory, before it is started.
//
// In: the configuration; its base model is mapped and its data read, since both decide. Out: on
// stdout a table with its sum beside what the machine can give, and, where that is not enough, what
// to change and what it brings; or one JSON object. Of the CPU it is what training allocates; of a
// device what lies there without the compiler's own buffers, which only the device's maker knows.
#pragma once

#include <string>

#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct PlanOptions {
  std::string config_file;
  bool json = false;
};

// Exit codes: 0 it fits, 1 it does not or something failed, 75 stopped as asked, 78 something to be
// changed first.
int run_plan(const PlanOptions& options, const CommandPorts& ports);

// Adds the command to the app.
void add_plan(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
