// What is done with one program's checkpoints: chosen, verified, pruned. All of it off the loop.
#pragma once

#include <map>
#include <string>

#include "supervisor/daemon/program_context.hpp"

namespace trainward::daemon {

class CheckpointHands {
 public:
  explicit CheckpointHands(ProgramContext& context) : c_(context) {}

  void select(std::int64_t below);                   // CheckpointRejected …, CheckpointSelected
  void verify(const core::VerifyCheckpoint& order);  // CheckpointVerified
  void find_unjudged(std::int64_t attempt);          // Session::unjudged()
  void prune();

 private:
  void verify(const core::VerifyCheckpoint& order, int tries);

  ProgramContext& c_;
  std::map<std::string, std::string> verified_;  // checkpoint folder to its identity when read
};

}  // namespace trainward::daemon
