#include "supervisor/sim/shell.hpp"

#include <algorithm>
#include <utility>

namespace trainward::sim {

void Shell::handle(core::Event event) {
  if (!alive_) return;
  push(std::move(event));
  drain();
  deliver_exit();
}

void Shell::shut_down(std::int64_t comes_back_after_ms) {
  if (!alive_ || leaving_) return;
  leaving_ = true;
  comes_back_after_ms_ = comes_back_after_ms;
  handle(core::StopRequested{"shutdown", true});
}

void Shell::die() {
  alive_ = false;
  ++epoch_;
  die_at_ = -1;
  leaving_ = false;
  draining_ = false;
  retrying_ = false;
  refused_ = false;
  pending_.clear();
  asked_.clear();
  exit_.reset();
  shim_gone_ = false;
  verifying_ = 0;
  armed_true_ms_ = 0;
}

void Shell::crash() {
  die();
  // Mostly systemd starts it again at once; now and then nobody does for a while.
  const bool long_gone = m_.random.one_in(4);
  m_.after(long_gone ? m_.random.between(minute_ms, 3 * hour_ms)
                     : m_.random.between(second_ms, 10 * second_ms),
           Due::daemon);
}

// ---- turns ----

void Shell::drain() {
  if (draining_) return;  // something that is carried out right now added an event
  draining_ = true;
  while (alive_ && !pending_.empty()) {
    if (m_.clock.true_ms < m_.commits_refused_until_ms) {
      refused_ = true;
      if (!std::exchange(retrying_, true)) m_.after(second_ms, Due::retry, epoch_);
      break;
    }
    if (!turn()) return;  // it died
  }
  draining_ = false;
  if (!alive_) return;
  const core::Stage stage = decider_.state().stage;
  const bool at_rest =
      stage == core::Stage::stopped || stage == core::Stage::exited || stage == core::Stage::fatal;
  if (!site_.worker_alive() && !site_.spawning) {
    const bool stopped = stage == core::Stage::stopped || stage == core::Stage::exited;
    if (stopped != (m_.score.now == Spent::stopped)) {
      m_.score.turn_to(stopped ? Spent::stopped : Spent::waiting, m_.clock.true_ms);
    }
  }
  if (leaving_ && at_rest && settled()) {
    const std::int64_t back = comes_back_after_ms_;
    die();
    return m_.after(back, Due::daemon);
  }
  arm();
}

// Returns false when the daemon died in it.
bool Shell::turn() {
  if (die_at_ == 0) {
    crash();
    return false;
  }
  std::vector<Record> taken = std::exchange(pending_, {});
  // What the journal tells is older than what happens now.
  if (taken.size() > 1) {
    std::stable_partition(taken.begin(), taken.end(), [](const Record& r) { return r.journaled; });
  }
  // Nobody watched while nothing could be decided.
  if (std::exchange(refused_, false)) taken.push_back({core::Adopted{true}, {}, false});
  core::Actions all;
  for (const Record& record : taken) {
    const Time at = record.journaled ? record.at : now();
    core::Actions actions = decider_.decide(record.event, at);
    ++events_;
    // The boot is committed with the event that tells of it, or a death in between would hide it.
    if (std::holds_alternative<core::DaemonStarted>(record.event)) {
      boot_true_ms_ = m_.clock.boot_true_ms;
    }
    checker_.after(record.event, at, decider_.state(), actions);
    if (all.empty()) {
      all = std::move(actions);
    } else {
      std::move(actions.begin(), actions.end(), std::back_inserter(all));
    }
  }
  // The commit. An exit that is held back has not been counted: the next daemon reads it again.
  committed_ = exit_ ? exit_offset_ : read_;
  remember(all);
  std::int64_t carried_out = 0;
  for (const core::Action& action : all) {
    if (die_at_ > 0 && carried_out++ >= die_at_ - 1) {
      crash();
      return false;
    }
    execute(action);
  }
  if (die_at_ > 0) {
    crash();
    return false;
  }
  return true;
}

void Shell::arm() {
  const std::int64_t due = decider_.timer_ms();
  if (due == 0 || recovering_ || retrying_) return;
  const std::int64_t due_true = std::max(due + m_.clock.boot_true_ms, m_.clock.true_ms + 1);
  if (armed_true_ms_ != 0 && armed_true_ms_ <= due_true) return;  // looks again then
  armed_true_ms_ = due_true;
  m_.queue.add(due_true, Due::timer);
}

void Shell::on_timer() {
  if (!alive_ || armed_true_ms_ != m_.clock.true_ms) return;
  armed_true_ms_ = 0;
  const std::int64_t due = decider_.timer_ms();
  if (due != 0 && now().mono_ms >= due && !recovering_ && !retrying_)
    return handle(core::TimerFired{});
  arm();
}

void Shell::on_retry(std::int64_t epoch) {
  if (!alive_ || epoch != epoch_) return;
  retrying_ = false;
  drain();
  deliver_exit();
}

// ---- the attempt's journal ----

void Shell::read_journal() {
  for (; read_ < m_.journal.records.size(); ++read_) {
    const Record& record = m_.journal.records[read_];
    if (recovering_) last_record_ = record.at;
    if (std::holds_alternative<core::WorkerExited>(record.event)) {
      exit_ = record;
      exit_offset_ = read_;
      continue;
    }
    push(record.event, record.at);
    // Taken with the heartbeats, now and then.
    if (!recovering_ && std::holds_alternative<core::StepDone>(record.event) && read_ % 2 == 0 &&
        site_.worker_alive()) {
      push(site_.worker->memory());
    }
  }
}

void Shell::on_journal(std::int64_t attempt) {
  if (!alive_ || !following_ || attempt != m_.journal.attempt) return;
  read_journal();
  drain();
  deliver_exit();
}

// The shim lets the leases go when it ends, so only then may the next attempt begin.
void Shell::on_shim_gone(std::int64_t attempt) {
  if (attempt != m_.journal.attempt) return;
  m_.journal.shim_alive = false;
  if (!alive_ || !following_) return;
  read_journal();
  if (!exit_) {
    exit_ = Record{core::AttemptLost{"the shim ended without an exit record"}, now()};
    exit_offset_ = read_;
  }
  shim_gone_ = true;
  drain();
  deliver_exit();
}

void Shell::deliver_exit() {
  if (!alive_ || !pending_.empty()) return;
  if (exit_ && shim_gone_ && verifying_ == 0) {
    following_ = false;
    shim_gone_ = false;
    const Record exit = *std::exchange(exit_, std::nullopt);
    push(exit.event, exit.at);
    drain();
  }
  go_on_after_recovery();
}

// ---- a new daemon ----

void Shell::begin() {
  const bool machine_off = m_.clock.true_ms < m_.clock.boot_true_ms;
  if (alive_ || machine_off) return;
  const bool machine_restarted = boot_true_ms_ != m_.clock.boot_true_ms;
  alive_ = true;
  read_ = committed_;
  const core::State& state = decider_.state();
  following_ = core::has_worker(state.stage) && m_.journal.attempt == state.attempt;
  recovering_ = true;
  machine_restarted_ = machine_restarted;
  last_record_ = state.seen == Time{} ? m_.now() : state.seen;
  if (!following_ && core::has_worker(state.stage) && !machine_restarted) {
    // It died between the decision and the launch: nobody holds the lease.
    push(core::AttemptLost{"the daemon ended between the decision and the launch"}, last_record_);
  }
  if (following_) {
    read_journal();
    if (!m_.journal.shim_alive) {
      shim_gone_ = true;
      if (!exit_ && !machine_restarted) {
        exit_ = Record{core::AttemptLost{"the shim ended without an exit record"}, last_record_};
        exit_offset_ = read_;
      }
    }
  }
  drain();
  deliver_exit();
}

// Everything an earlier daemon left in the journal has been decided.
void Shell::go_on_after_recovery() {
  if (!recovering_ || !alive_ || !pending_.empty()) return;
  const bool lives = following_ && m_.journal.shim_alive;
  if (!lives && verifying_ > 0) return;
  recovering_ = false;
  push(core::DaemonStarted{machine_restarted_, asked_.empty()});
  if (lives) push(core::Adopted{});
  if (!lives) following_ = false;
  drain();
}

}  // namespace trainward::sim
