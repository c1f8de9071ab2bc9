// What is done with one program's checkpoints: chosen, verified, pruned. All of it off the loop.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
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
  void select_ours(std::int64_t below);
  void select_foreign(std::int64_t below);
  void tell_selected(const Result<checkpoint::Selection>& selection);
  void prune_foreign();
  void note_pruned(const std::vector<std::filesystem::path>& removed);

  ProgramContext& c_;
  std::map<std::string, std::string> verified_;  // checkpoint folder to its identity when read
};

}  // namespace trainward::daemon
