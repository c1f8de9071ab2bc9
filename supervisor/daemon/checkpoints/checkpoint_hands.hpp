// What is done with one program's checkpoints: chosen, verified, pruned. All of it off the loop.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "supervisor/daemon/checkpoints/restore_process.hpp"
#include "supervisor/daemon/program_context.hpp"

namespace trainward::daemon {

class CheckpointHands {
 public:
  explicit CheckpointHands(ProgramContext& context) : c_(context) {}

  void select(std::int64_t below);                   // CheckpointRejected …, CheckpointSelected
  void verify(const core::VerifyCheckpoint& order);  // CheckpointVerified
  void find_unjudged(std::int64_t attempt);          // Session::unjudged()
  void prune();

  // The program may have been stopped meanwhile.
  void turned();
  // A checkpoint on its way back, in a sentence; empty: none is.
  [[nodiscard]] std::string restoring() const { return restore_ ? restore_->doing() : ""; }

 private:
  void select_here(std::int64_t below);
  // No checkpoint was found here: is one to be brought back from elsewhere?
  void consider_restore(const checkpoint::Selection& selection);
  void restore();
  void restored(Result<std::string> place, const std::string& words);
  void verify(const core::VerifyCheckpoint& order, int tries);
  void select_ours(std::int64_t below);
  void select_foreign(std::int64_t below);
  void tell_selected(const Result<checkpoint::Selection>& selection);
  void prune_foreign();
  void note_pruned(const std::vector<std::filesystem::path>& removed);

  ProgramContext& c_;
  void tell(const Result<checkpoint::Selection>& selection);

  std::map<std::string, std::string> verified_;  // checkpoint folder to its identity when read
  bool may_restore_ = false;                     // of the selection that is under way
  std::unique_ptr<RestoreProcess> restore_;
};

}  // namespace trainward::daemon
