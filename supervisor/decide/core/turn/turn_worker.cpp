#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {

void Turn::on(const PhaseEntered& e) {
  const bool saves = e.phase == "save" || e.phase == "upload";
  if (state_.stage == Stage::stopping && saves) {
    // What it was asked for: it gets the time a save may take.
    state_.reason = "stopping: the worker is saving";
    state_.watch.deadline_mono_ms = std::max<std::optional<MonoTime>>(
        state_.watch.deadline_mono_ms, now_.mono + policy_.deadlines.save_ms);
    return;
  }
  if (!listening()) return;
  if (e.phase == "load") enter(Stage::loading, "loading");
  if (e.phase == "compile") enter(Stage::compiling, "compiling");
  if (e.phase == "train") enter(Stage::training, "training");
  if (saves) enter(Stage::saving, "saving");
  if (e.phase == "evaluate") enter(Stage::evaluating, "evaluating");
}

void Turn::on(const Resumed& e) {
  if (!listening()) return;
  progress();
  // The word of its last step may have been lost, but no more.
  const bool was_reached = e.step <= state_.history.highest_step + 1;
  if (e.from_memory && was_reached && e.step > state_.current.resume_step &&
      !state_.current.first_step) {
    note("resume", fmt::format("resumed from memory at step {}; the checkpoint is of step {}",
                               e.step, state_.current.resume_step));
    state_.current.resume_step = e.step;
    state_.current.last_step = e.step;
    act(RecordResumed{e.step});
  }
  if (e.step >= state_.current.resume_step) return;
  kill(Cause::resume_contract, fmt::format("told to resume from step {}, but it reported step {}",
                                           state_.current.resume_step, e.step));
}

// The step of a foreign checkpoint is what its name or the time of its file says, and a program may
// tell of the step it resumed at once more: only one that starts over has not resumed.
bool Turn::resumes_near(Step first) const {
  return policy_.foreign && 2 * first.number > state_.current.resume_step.number;
}

void Turn::on(const StepDone& e) {
  if (!has_worker(state_.stage)) return;
  Attempt& attempt = state_.current;
  History& history = state_.history;
  Watch& watch = state_.watch;
  if (!attempt.first_step) {
    if (e.step <= attempt.resume_step && listening() && !resumes_near(e.step)) {
      return on(Resumed{e.step - 1});
    }
    attempt.first_step = e.step;
    if (KnownMesh& mesh = state_.boards.known_mesh; mesh.links > 0 && !state_.boards.smaller) {
      mesh.proven = true;
    }
    if (!policy_.told_to_resume) notice_resume(e.step);
  } else if (watch.step_began_mono_ms && e.step > attempt.last_step && told_at_ == now_) {
    // A record that came too late says nothing about how long its step took.
    const std::int64_t took = now_.mono - *watch.step_began_mono_ms;
    learn_step_time(state_, policy_, took);
    if (policy_.foreign) notice_bursts(took);
  }
  const bool replayed = e.step <= history.highest_step;
  if (listening()) {
    // Time up to this step belongs to it: a replayed step was done before and lost.
    if (state_.stage != Stage::training) enter(Stage::training, "training");
    book_training(replayed);
  }
  state_.next.plan.good_steps += std::max<std::int64_t>(e.step - attempt.last_step, 0);
  attempt.last_step = e.step;
  attempt.memory_step = std::max(attempt.memory_step, std::min(e.in_memory, e.step));
  attempt.counter_end = e.counter_end;
  attempt.counts_run = e.of_run;
  if (const auto& loss = e.figures.loss; loss && std::isfinite(*loss)) history.last_loss = *loss;
  history.highest_step = std::max(history.highest_step, e.step);
  if (state_.stage != Stage::stopping && state_.stage != Stage::killing) progress();
  watch.step_began_mono_ms = now_.mono;
  // What is known of its clock has changed.
  if (policy_.foreign && !policy_.watch_cpu && listening()) watch_activity();
  if (policy_.foreign && listening()) notice_patience();
  actions_.emplace_back(RecordStep{e.step, e.figures, replayed});
  if (!listening()) return;
  const auto& loss = e.figures.loss;
  if (loss) {
    // Early steps that are done again have their early loss again: that is no jump.
    const bool spikes_matter = policy_.rollback.loss_spike && !replayed;
    if (auto trouble = watch_loss(watch.loss, e.step, *loss, spikes_matter)) {
      history.trouble_step = std::max(trouble->from, began_after() + 1);
      watch.loss.high = 0;
      return kill(trouble->cause, trouble->why);
    }
  }
  plan_restart_if_due();
}

// Of a program that finds its own place. Until now the time went to new steps, for all one knew.
void Turn::notice_resume(Step first) {
  const Step highest = state_.history.highest_step;
  if (first > highest) {
    // The first step that a first attempt tells of need not be 1.
    if (highest) note("resume", fmt::format("resumed at step {}", first));
    return;
  }
  rebook_as_replay(state_, state_.history.last_cause);
  note("resume",
       fmt::format("resumed at step {}; steps {} to {} are being repeated", first, first, highest));
}

// Said once: what comes late is told late, and is no reason to worry.
void Turn::notice_bursts(std::int64_t gap_ms) {
  constexpr std::int64_t at_once_ms = 100;
  constexpr std::int64_t long_ms = 5'000;
  constexpr int many = 8;
  Watch& watch = state_.watch;
  if (gap_ms < at_once_ms) {
    ++watch.steps_at_once;
    return;
  }
  const int burst = std::exchange(watch.steps_at_once, 0) + 1;
  if (gap_ms < long_ms || burst < many || state_.history.told_of_bursts) return;
  state_.history.told_of_bursts = true;
  note("watch",
       fmt::format("steps come {} at a time, {} apart: the program keeps its output back. Its "
                   "deadlines allow for it; to see each step when it is done, set "
                   "PYTHONUNBUFFERED=1, print with flush=True, or start it with stdbuf -oL",
                   burst, human_duration(gap_ms)));
}

// Said once, when its clock is known: until then no silence is called a hang.
void Turn::notice_patience() {
  if (state_.history.told_of_patience || silence_is_no_proof(state_, policy_)) return;
  state_.history.told_of_patience = true;
  note("watch",
       fmt::format("no step for {} counts as a hang, by what its steps take; deadlines.train_floor "
                   "is the shortest",
                   human_duration(allowed_ms(state_, policy_))));
}

// A restart loses nothing when the worker saves first, or has just saved.
bool Turn::safe_to_restart() const {
  return policy_.saves_when_asked || state_.history.kept_step == state_.current.last_step;
}

bool Turn::in_last_step() const {
  const Step target = target_of(state_, policy_.target_step);
  return target && state_.current.last_step + 1 >= target;
}

void Turn::plan_restart_if_due() {
  // Now and then the pattern is put to the test: the leak may be gone.
  constexpr std::int64_t retest = 16;
  const std::int64_t survived = state_.current.last_step - began_after();
  if (survived < 2 || state_.history.planned_restarts >= retest) return;
  if (in_last_step()) return;
  const auto limit = regular_limit(state_.history.faults);
  // One step early: the worker is in the next one when it hears of it.
  if (!limit || survived + 1 != *limit || !safe_to_restart()) return;
  if (state_.history.faults.back().rung != state_.next.plan.rung) return;
  stop_for(Cause::planned_restart,
           fmt::format("the last three attempts ended with {} after {}; a restart before it loses "
                       "nothing",
                       to_string(state_.history.faults.back().cause), count(*limit, "step")));
}

void Turn::on(const CheckpointReported& e) {
  if (!has_worker(state_.stage)) return;
  // The only thing a worker that does not speak says about where it began.
  if (listening() && e.step < state_.current.resume_step && !resumes_near(e.step)) {
    return on(Resumed{e.step});
  }
  if (state_.stage != Stage::stopping && state_.stage != Stage::killing) progress();
  act(VerifyCheckpoint{state_.attempt, e.path, e.step});
  if (state_.history.kept_path.empty()) state_.history.seen_path = e.path;
  if (e.write_ms > 0) state_.watch.save_write_ms = smoothed(state_.watch.save_write_ms, e.write_ms);
  // Checkpoints are all that a silent program shows: the next one is due after about as long.
  if (Activity& activity = state_.watch.activity; listening() && activity.limit_mono_ms) {
    constexpr std::int64_t patience = 4;
    const std::int64_t took = now_.mono - activity.proof_mono_ms;
    activity.proof_mono_ms = now_.mono;
    activity.limit_mono_ms = now_.mono + patience * std::max(took, 3 * allowed_ms(state_, policy_));
  }
}

void Turn::on(const CheckpointVerified& e) {
  act(RecordCheckpoint{e.attempt, e.path, e.step, e.bytes, e.error});
  if (!e.error.empty()) {
    return note("checkpoint", fmt::format("step {} does not verify: {}", e.step, e.error));
  }
  // Of an attempt that was rolled back meanwhile: it is known, and not resumed from.
  if (e.attempt != state_.attempt) return;
  if (e.step >= state_.history.kept_step) {
    state_.history.kept_step = e.step;
    state_.history.kept_path = e.path;
    state_.history.kept_in = e.folder;
  }
  note("checkpoint", fmt::format("step {} verified, {}", e.step, human_bytes(e.bytes)));
  act(PruneCheckpoints{});
  if (state_.history.trouble_step && state_.history.kept_step > state_.history.trouble_step) {
    state_.history.trouble_step = {};
    state_.history.rollbacks = 0;
  }
  each_board([&](const std::string& serial, BoardRecord& record) {
    if (add_service(record, policy_.quarantine, now_.wall)) act(RecordBoard{serial, record});
  });
}

void Turn::on(const Noticed& e) { note(e.kind, e.text); }

void Turn::on(const Alive& /*e*/) {
  // Life is not progress: only phases whose progress cannot be seen are prolonged by it.
  if (state_.stage == Stage::loading || state_.stage == Stage::compiling ||
      state_.stage == Stage::saving || state_.stage == Stage::evaluating) {
    progress();
  }
}

void Turn::on(const TargetTold& e) {
  if (!has_worker(state_.stage)) return;
  state_.current.target_step = e.step;
  on(Alive{});
}

void Turn::on(const DevicesTold& e) {
  if (!has_worker(state_.stage)) return;
  for (const std::string& what : watch_devices(state_.current.devices, e.window)) {
    note("straggler", what);
  }
  actions_.emplace_back(RecordDevices{e.window});
}

void Turn::on(const Evaluated& e) {
  if (!has_worker(state_.stage)) return;
  act(RecordEvaluation{e.step, e.loss, e.perplexity});
  note("evaluation",
       fmt::format("step {}: loss {:.4f} of held-out data{}", e.step, e.loss,
                   e.perplexity ? fmt::format(", perplexity {:.2f}", *e.perplexity) : ""));
}

}  // namespace trainward::core
