// The daemon of the simulated machine: what the real one does around the core, event for event.
//
// A turn takes all events that wait, runs the decider over them, commits, and carries out the
// actions in order; their results come back as events. It dies wherever the scenario says: before
// the commit, after it, or after any number of actions. The next one begins with the committed
// state: it replays the attempt's journal from the committed offset and waits for the verdicts on
// the checkpoints it finds there, all in the time of the journal; then it says DaemonStarted, and
// Adopted when the worker lives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "supervisor/sim/decider.hpp"
#include "supervisor/sim/invariants.hpp"
#include "supervisor/sim/site.hpp"

namespace trainward::sim {

class Shell {
 public:
  Shell(Site& site, Decider& decider, Checker& checker)
      : site_(site), m_(site.machine), decider_(decider), checker_(checker) {}

  // Whether the machine was restarted since the last daemon it finds out by itself.
  void begin();
  void die();
  void crash();  // dies, and is started again after a while
  // 0: before the commit of the next turn; n: after n − 1 of its actions.
  void die_at(std::int64_t point) { die_at_ = point; }
  void handle(core::Event event);
  void shut_down(std::int64_t comes_back_after_ms);

  void on_journal(std::int64_t attempt);
  void on_shim_gone(std::int64_t attempt);
  void on_timer();
  void on_answer(std::int64_t id);
  void on_retry(std::int64_t epoch);
  void on_spawn(std::int64_t attempt);

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  // Nothing is left to be decided right now.
  [[nodiscard]] bool settled() const {
    return alive_ && !recovering_ && pending_.empty() && !exit_;
  }
  // Something was asked for whose answer will be an event.
  [[nodiscard]] bool waits_for_answer() const { return !asked_.empty(); }

 private:
  void push(core::Event event) { pending_.push_back({std::move(event), {}, false}); }
  void push(core::Event event, Time at) { pending_.push_back({std::move(event), at, true}); }
  void drain();
  bool turn();
  void remember(const core::Actions& actions);
  void execute(const core::Action& action);
  void launch(const core::Launch& order);
  void send(core::Signal signal);
  void select(const core::SelectCheckpoint& order);
  void repair(const core::Repair& order);
  void ask(std::int64_t takes_ms, std::vector<core::Event> answer);
  [[nodiscard]] core::ProbeFinished look() const;
  void read_journal();
  void deliver_exit();
  void go_on_after_recovery();
  void arm();
  [[nodiscard]] Time now() const { return recovering_ ? last_record_ : m_.now(); }

  struct Answer {
    std::vector<core::Event> events;
    bool probe = false;
    bool verdict = false;  // on a checkpoint
  };

  Site& site_;
  Machine& m_;
  Decider& decider_;
  Checker& checker_;
  bool alive_ = false;
  std::int64_t epoch_ = 0;
  std::int64_t die_at_ = -1;
  bool leaving_ = false;
  std::int64_t comes_back_after_ms_ = 0;
  std::vector<Record> pending_;
  bool draining_ = false;
  bool retrying_ = false;
  bool refused_ = false;  // the commit of the events that wait
  std::int64_t events_ = 0;
  std::map<std::int64_t, Answer> asked_;
  std::int64_t ids_ = 0;
  std::int64_t armed_true_ms_ = 0;  // the earliest timer in the queue; 0: none

  bool following_ = false;
  std::size_t read_ = 0;
  std::size_t committed_ = 0;
  std::optional<Record> exit_;
  std::size_t exit_offset_ = 0;
  bool shim_gone_ = false;
  int verifying_ = 0;
  bool recovering_ = false;
  bool machine_restarted_ = false;
  std::int64_t boot_true_ms_ = -60'000;  // of the machine the last daemon ran on
  Time last_record_;
};

}  // namespace trainward::sim
