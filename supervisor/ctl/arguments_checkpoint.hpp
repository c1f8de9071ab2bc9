// The verbs behind `trainwardctl ckpt`: their options, and the command each leads to.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "supervisor/ctl/commands.hpp"

namespace trainward::ctl {

using Action = std::function<int(const Context&)>;

// What the parsed options fill in; outlives the parse.
struct CheckpointArguments {
  std::string place;
  std::string second;
  std::string reason;
  bool tensors = false;
  bool dry_run = false;
  PruneRequest prune;
  ConvertRequest convert;
  ImportRequest import_from;
  ExportRequest export_to;
};

// A verb that is used sets `action`, which refers to `parsed`.
void add_checkpoint_verbs(CLI::App& app, CheckpointArguments& parsed, Action& action);

}  // namespace trainward::ctl
