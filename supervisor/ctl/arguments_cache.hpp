// The verbs of `trainwardctl cache`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "supervisor/ctl/arguments_checkpoint.hpp"
#include "supervisor/ctl/commands.hpp"

namespace trainward::ctl {

// What the options fill in; outlives the parse.
struct CacheArguments {
  CacheRequest request;
};

void add_cache_verbs(CLI::App& app, CacheArguments& parsed, Action& action);

}  // namespace trainward::ctl
