// trainward-worker data: what the data of a configuration is to a run, before the run is trusted to
// it.
//
// In: the configuration; the base model's folder is only asked for its tokenizer and template. Out:
// on stdout a table of what was loaded and some decoded examples with what is trained on in them,
// or one JSON object; on stderr how far it is, and what is odd. Nothing is written but bad rows,
// where a folder is named for them.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/worker/commands/terminal.hpp"

namespace trainward::trainer {

struct DataOptions {
  std::string config_file;
  std::string bad_rows;  // a folder; empty: they are only counted
  std::int64_t shown = 5;
  bool colour = false;  // else marks stand around what is trained on
  bool json = false;
};

// Exit codes: 0 there is something to train on, 75 stopped as asked, 78 something to be changed
// first, 1 anything else.
int run_data(const DataOptions& options, const CommandPorts& ports);

// Adds the command to the app.
void add_data(CLI::App& app, Chosen& chosen);

}  // namespace trainward::trainer
