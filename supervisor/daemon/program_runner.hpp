// One program of a running daemon: its session, the hands that carry out what it asks for, and the
// rows it writes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "supervisor/daemon/hands/board_hands.hpp"
#include "supervisor/daemon/hands/checkpoint_hands.hpp"
#include "supervisor/daemon/hands/shim_hands.hpp"
#include "supervisor/daemon/loop/loop_clock.hpp"
#include "supervisor/daemon/notify/program_news.hpp"
#include "supervisor/daemon/records/recorder.hpp"
#include "supervisor/decide/session/session.hpp"

namespace trainward::daemon {

class ProgramRunner final : private session::Hands {
 public:
  // `changed` is called after every turn.
  ProgramRunner(Services& services, config::Program program, std::function<void()> changed);

  // Goes on from the database. A program that is new, and autostarts, starts. `by_hand`: a person
  // has just started this daemon for these programs, so what was given up is tried again.
  Status recover(bool machine_restarted, bool by_hand);

  // Decided in the next turn of the loop.
  void handle(core::Event event) { session_.handle(std::move(event)); }

  // To the worker, by an operator; what it does to the worker is for the worker's log and exit to
  // tell. Kind permanent: there is no worker.
  Status signal(int number);
  // Empties the logs of the attempts that are over; then says which are left, if any.
  void clear_logs(std::function<void(Result<std::string>)> then) const;

  // As Session has them.
  [[nodiscard]] const core::State& state() const { return session_.state(); }
  [[nodiscard]] bool at_rest() const { return session_.at_rest(); }
  [[nodiscard]] bool at_rest_unrecorded() const { return session_.at_rest_unrecorded(); }
  [[nodiscard]] bool busy() const { return session_.busy(); }
  // Its stop is on record, and somebody has started it since: it may never rest.
  [[nodiscard]] bool overtaken() const { return !busy() && state().wanted; }
  [[nodiscard]] const config::Program& program() const { return context_.program; }
  // What keeps this program from going on, in a sentence for `status`; empty: nothing that is
  // known.
  [[nodiscard]] std::string trouble() const;

 private:
  Status catch_up_with_folders();
  void tell_that_it_is_done() const;

  // ---- session::Hands ----
  void probe() override { boards_.probe(); }
  void repair(const core::Repair& order) override { boards_.repair(order); }
  void select(const core::SelectCheckpoint& order) override;
  void verify(const core::VerifyCheckpoint& order) override { checkpoints_.verify(order); }
  void prune() override { checkpoints_.prune(); }
  void check_activity() override { shim_.check_activity(); }
  void find_unjudged(std::int64_t attempt) override { checkpoints_.find_unjudged(attempt); }
  void recorded(const core::Actions& actions, Time at) override;
  void turned(bool committed) override;

  ProgramContext context_;
  Recorder recorder_;
  ProgramNews news_;
  BoardHands boards_;
  CheckpointHands checkpoints_;
  ShimHands shim_;
  LoopClock clock_;
  session::Session session_;
  // The newest that was told: not every line of a program tells them.
  std::optional<double> told_loss_;
  std::optional<double> told_rate_;
};

}  // namespace trainward::daemon
