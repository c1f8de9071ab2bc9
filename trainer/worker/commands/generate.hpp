// trainward-worker generate, from its options to the exit code.
//
// On stdout the prompt and what follows it, or in turns the answer alone, as it comes; with --json
// one object at the end. On stderr every error as one line. Exit codes: done; try_again when it was
// asked to stop; configuration for what only a person can change; failed for everything else.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/generate/sampling.hpp"
#include "trainer/worker/commands/speaker.hpp"
#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct GenerateOptions {
  SpeakerOptions speaker;
  std::string prompt;
  bool chat = false;   // the prompt is a turn of a user
  std::string system;  // a turn before it; empty: none
  std::int64_t tokens = 200;
  Sampling sampling;
  std::uint64_t seed = 0;
  bool json = false;
};

int run_generate(const GenerateOptions& options, const CommandPorts& ports);

// Adds the command to the app.
void add_generate(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
