// trainward-worker tokenize and trainward-worker tokens, from their options to the exit code.
//
// In: what the command line says, and the outside world as ports. Out: the file
// (data/tokenize.hpp); on stdout a summary, as text or one JSON object; on stderr how far it is, as
// a bar on a terminal, else as a line every ten seconds, and every error as one line. Exit codes:
// done; try_again when it was asked to stop, and then no file is left; configuration for what only
// a person can change; failed for everything else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct TokenizeOptions {
  std::vector<std::string> paths;
  std::string tokenizer = "byte";
  std::string end_of_text;
  std::string format = "auto";  // or "text"
  std::string out;
  std::optional<std::string> quarantine;
  bool json = false;
};

int run_tokenize(const TokenizeOptions& options, const CommandPorts& ports);

// What a token file says of itself, and whether its tokens are those it was made with.
int run_tokens(const std::string& path, bool as_json, const CommandPorts& ports);

// Each adds its command to the app.
void add_tokenize(CLI::App& app, Chosen& chosen);
void add_tokens(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
