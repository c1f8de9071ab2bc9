// trainward-worker generate, from its options to the exit code.
//
// On stdout the prompt and what follows it, as it comes, or with --json one object at the end; on
// stderr every error as one line. Exit codes: done; try_again when it was asked to stop;
// configuration for what only a person can change; failed for everything else.
#pragma once

#include <optional>
#include <string>

#include "trainer/generate/sampling.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct GenerateOptions {
  std::string checkpoint;  // a checkpoint, or a folder of them: then the newest that verifies
  std::string prompt;
  std::string tokenizer = "byte";
  std::string end_of_text;
  std::int64_t tokens = 200;
  Sampling sampling;
  std::uint64_t seed = 0;
  int threads = 2;
  bool json = false;
};

int run_generate(const GenerateOptions& options, const CommandPorts& ports);

// Adds the command to the app.
void add_generate(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
