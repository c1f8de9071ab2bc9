// The shim of a program's attempt, its journal, and all that watches the worker in it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/token_bucket.hpp"
#include "supervisor/daemon/attempt/foreign_watch.hpp"
#include "supervisor/daemon/attempt/journal_file.hpp"
#include "supervisor/daemon/attempt/shim_process.hpp"
#include "supervisor/daemon/attempt/worker_watch.hpp"
#include "supervisor/daemon/boards/board_watch.hpp"
#include "supervisor/daemon/hands/board_hands.hpp"
#include "supervisor/daemon/records/recorder.hpp"
#include "supervisor/process/containment/attempt_signals.hpp"

namespace trainward::daemon {

class ShimHands final : public session::Shim {
 public:
  ShimHands(ProgramContext& context, BoardHands& boards, Recorder& recorder)
      : c_(context), boards_(boards), recorder_(recorder), read_later_(context.services.loop) {}
  ~ShimHands() override { dismiss_standby(""); }
  ShimHands(const ShimHands&) = delete;
  ShimHands& operator=(const ShimHands&) = delete;
  ShimHands(ShimHands&&) = delete;
  ShimHands& operator=(ShimHands&&) = delete;

  // Before an attempt begins: takes the program's lease for it, which is given back when none
  // follows. `then`, on the loop: an error when something that still runs holds it.
  void reserve(std::function<void(const Status&)> then);

  // Of the attempt that was recovered: the process that is known as its shim exists.
  [[nodiscard]] bool lives() const;

  // ---- session::Shim ----
  Status launch(const core::Launch& order) override;
  void follow(std::int64_t attempt) override;
  session::JournalPiece read(std::int64_t offset) override;
  session::Found find() override;
  session::Found signal(core::Signal signal) override;
  std::string last_words() override;
  void look_back(bool logs) override;

  void check_activity();  // ActivitySeen, or nothing
  // What is watched follows the state.
  void turned();
  // That the shim is stopped and does nothing, in words; empty: it is not.
  [[nodiscard]] std::string trouble() const { return shim_ ? shim_->trouble() : ""; }

 private:
  void on_shim_gone();
  [[nodiscard]] containment::AttemptMarks marks() const;
  bool adopt(const ProcessId& id);  // false: it is gone
  void tell_whoever_is_found(core::Signal signal);
  [[nodiscard]] bool somebody_lives() const;
  void look_at_logs();
  void watch_boards();
  void forget_kept_state();
  void watch_journal();
  void journal_grew();
  void tend_standby();
  void standby_changed();
  void clear_folders();
  // Also after this object has gone.
  void in_background_even_when_gone(std::string what, std::function<void()> work);
  void dismiss_standby(const std::string& why);  // empty: nobody needs to know

  ProgramContext& c_;
  BoardHands& boards_;
  Recorder& recorder_;
  std::optional<JournalFile> journal_;
  Fd lease_;                    // the program's, from the choice of a checkpoint until the launch
  bool may_keep_state_ = true;  // somebody may hold what an attempt left in memory
  FileWatcher::Subscription watch_;
  TokenBucket reads_{20, 6};
  Timer read_later_;  // set: the journal has grown, and was read a moment ago
  bool reads_later_ = false;
  std::uint64_t watched_ = 0;  // inode of the journal's file that watch_ is about
  std::unique_ptr<ShimProcess> shim_;
  std::optional<core::Launch> launched_;  // the order of the attempt that runs
  std::unique_ptr<Standby> standby_;
  std::int64_t without_standby_ = 0;          // the attempt that has had its try
  std::optional<core::MemorySample> memory_;  // the newest of the attempt
  bool clears_standbys_ = true;               // folders of theirs may be there
  bool never_standby_ = false;                // it trained before it was to begin
  std::unique_ptr<ForeignWatch> foreign_;     // of a command that has to be watched from outside
  std::shared_ptr<WorkerWatch> worker_;
  hwprobe::Processes processes_;
  std::unique_ptr<BoardWatch> board_watch_;  // as long as worker_
};

}  // namespace trainward::daemon
