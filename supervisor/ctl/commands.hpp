// The commands, one small file a family. Each prints to the context's terminal and returns the exit
// code; docs/cli.md is the manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/ctl/context.hpp"

namespace trainward::ctl {

using Names = std::vector<std::string>;

int status(const Context& context, const Names& names);

int start(const Context& context, const Names& names);
int stop(const Context& context, const Names& names);
int restart(const Context& context, const Names& names);  // all stopped before any starts

int pid(const Context& context, const std::string& name);  // "": the daemon's; "all"
int reread(const Context& context);
int update(const Context& context);
int reload(const Context& context);
int upgrade(const Context& context);  // to the program that is on the disk now
int shut_down(const Context& context);
int version(const Context& context);

struct TailRequest {
  std::string program;
  std::string stream = "stdout";
  std::int64_t bytes = 1600;
  bool follow = false;  // until interrupted, across attempts
};
int tail(const Context& context, const TailRequest& request);

int history(const Context& context, const std::string& program);  // "": all
int why(const Context& context, const std::string& program, std::optional<std::int64_t> attempt);
int report(const Context& context, const std::string& program);
int events(const Context& context, const std::string& program, int limit);

int probe(const Context& context);

int list_checkpoints(const Context& context, const std::string& name_or_folder);
int verify_checkpoints(const Context& context, const std::string& folder);
int digest_checkpoint(const Context& context, const std::string& folder);

struct ClassifyRequest {
  std::string file;   // "-": standard input
  std::string rules;  // a rules file of the user, or empty
  std::optional<int> exit_code;
  std::optional<int> signal;
};
int classify(const Context& context, const ClassifyRequest& request);

int check_config(const Context& context, const std::string& file);

}  // namespace trainward::ctl
