// What is done with one program's checkpoints: chosen, verified, pruned. All of it off the loop.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "supervisor/daemon/checkpoints/restore_process.hpp"
#include "supervisor/daemon/hands/program_context.hpp"

namespace trainward::daemon {

class CheckpointHands {
 public:
  explicit CheckpointHands(ProgramContext& context) : c_(context) {}

  void select(const core::SelectCheckpoint& order);  // CheckpointRejected …, CheckpointSelected
  void verify(const core::VerifyCheckpoint& order);  // CheckpointVerified
  void find_unjudged(std::int64_t attempt);          // Session::unjudged()
  void prune();

  // The program may have been stopped meanwhile.
  void turned();
  // A checkpoint on its way back, in a sentence; empty: none is.
  [[nodiscard]] std::string restoring() const { return restore_ ? restore_->doing() : ""; }

 private:
  void select_here(const core::SelectCheckpoint& order);
  // No checkpoint was found here: is one to be brought back from elsewhere?
  void consider_restore(const checkpoint::Selection& selection);
  void restore();
  void restored(Result<std::string> place, const std::string& words);
  void verify(const core::VerifyCheckpoint& order, int tries);
  struct Choice;  // that is under way
  void select_ours(const Choice& choice);
  void select_foreign(const Choice& choice);
  void judge(const Choice& choice, const Result<checkpoint::Selection>& selection);
  void tell_selected(const Result<checkpoint::Selection>& selection);
  [[nodiscard]] std::optional<WallTime> run_began() const;
  void tell_of_earlier_ones();
  void tell_rejected(const checkpoint::Selection& selection);
  // For what is not there, or for somebody who has it.
  void wait(const std::string& why);
  void prune_foreign();
  void note_pruned(const std::vector<std::filesystem::path>& removed);

  ProgramContext& c_;
  void tell(const Result<checkpoint::Selection>& selection);

  std::map<std::string, std::string> verified_;  // checkpoint folder to its identity when read
  bool may_restore_ = false;                     // of the selection that is under way
  bool told_of_earlier_ones_ = false;
  std::int64_t choices_ = 0;     // so far: who is overtaken tells nothing
  std::string folder_;           // that what was chosen lies in
  std::string gone_;             // what is missing, in words; empty: nothing
  std::string asked_;            // who is asked for a checkpoint, in words
  bool told_of_asking_ = false;  // since one was last there
  std::unique_ptr<RestoreProcess> restore_;
};

}  // namespace trainward::daemon
