#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"
#include "supervisor/decide/core/turn/retry.hpp"
#include "supervisor/decide/core/turn/turn.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::core {

// Asked to end by anyone: what keeps running has the time that a stop has.
void Turn::on(const Outlived& e) {
  if (!has_worker(state_.stage)) return;
  on(HostFact{"shim", weight::shown_only, Cause::unknown,
              fmt::format("its first process had ended, and this went on: {}", e.who)});
  const std::string reason = fmt::format("stopping: waiting for {} to save and exit", e.who);
  if (listening()) return enter(Stage::stopping, reason);
  if (state_.stage == Stage::stopping) state_.reason = reason;
}

// The shell delivers an exit after the verdicts on all checkpoints of the attempt, so that what it
// kept is known here.
void Turn::on(const WorkerExited& e) {
  if (!has_worker(state_.stage)) return;
  // It had ended before we killed it, and only the news came late.
  if (state_.current.kills_sent > 0 && state_.current.kill &&
      told_at_.mono < state_.current.kill->mono_ms) {
    state_.current.kill.reset();
  }
  end_attempt(classify(state_, e, policy_.done_codes), e.code, e.signal);
}

void Turn::on(const AttemptLost& e) {
  if (!has_worker(state_.stage)) return;
  end_attempt(classify(state_, e), std::nullopt, std::nullopt);
}

std::int64_t Turn::lived_ms() const {
  return std::max<std::int64_t>(now_.mono - state_.current.launched_mono_ms, 0);
}

// The step before the attempt's own first one: where it was told to go on, or where its program
// itself found, as its first step shows.
Step Turn::began_after() const {
  const Attempt& attempt = state_.current;
  return policy_.told_to_resume || !attempt.first_step ? attempt.resume_step
                                                       : attempt.first_step - 1;
}

bool Turn::made_progress() const {
  if (state_.history.kept_step > state_.current.kept_at_launch) return true;
  // As long as somebody lives to take it: what was there once before is no progress.
  if (state_.current.memory_step > state_.history.highest_in_memory) return true;
  const bool steps_unseen = policy_.foreign && !state_.current.first_step;
  if (steps_unseen && lived_ms() >= progress_unseen_ms) return true;
  if (policy_.keeps_checkpoints) return false;
  // One that finds its own place and falls where it fell before gets no further, unless it counts
  // its steps from its own start: then its life is all there is to see.
  if (!policy_.told_to_resume && state_.current.first_step) {
    return state_.current.last_step > state_.current.highest_at_launch ||
           lived_ms() >= progress_unseen_ms;
  }
  constexpr std::int64_t a_while_ms = 600'000;
  return state_.current.last_step > state_.current.resume_step || lived_ms() >= a_while_ms;
}

void Turn::charge(bool advanced) {
  History& history = state_.history;
  if (advanced) {
    history.attempts_without_progress = 0;
    history.time_without_progress_ms = 0;
    history.rungs.clear();
    return;
  }
  ++history.attempts_without_progress;
  ++history.charged_attempts;
  history.time_without_progress_ms += lived_ms();
}

// Every step is done, and what comes after them fails as it did before: there is nothing left that
// another attempt could do better, unless the board or what is waited for has changed.
bool Turn::fails_behind_its_end(Cause cause) const {
  const Attempt& attempt = state_.current;
  const Step told = target_of(state_, policy_.target_step);
  const Step target = !told && attempt.counts_run ? attempt.counter_end : told;
  return target && state_.history.highest_step >= target && !attempt.first_step &&
         !facts(cause).of_board && facts(cause).ladder != ladders::wait &&
         again_there(state_.history.faults);
}

Remedy Turn::apply_remedy(Cause cause, const std::string& why, bool advanced) {
  History& history = state_.history;
  Amends& next = state_.next;
  if (!advanced && fails_behind_its_end(cause)) return Remedy::stop;
  // An attempt that kept something proves that trying again helps. And what runs out of memory at
  // the same step gets further when it saves more often.
  const bool saves_sooner =
      policy_.cadence.adaptive && policy_.cadence.max_steps > 0 && cause == Cause::device_oom;
  // Boards whose fault nobody can place may come right by themselves, or by a hand: the budgets are
  // for that, and no ladder's end.
  const bool may_come_right = facts(cause).of_board && is_nobodys(why);
  const bool in_vain =
      !advanced && !saves_sooner && !may_come_right && deterministic(history.faults);
  const Remedy remedy = climb(state_, policy_, cause, in_vain);
  switch (remedy) {
    case Remedy::retry:
    case Remedy::stop:
      break;
    case Remedy::reset_board:
    case Remedy::purge_caches:
      next.repairs.push_back(remedy);
      break;
    case Remedy::shrink_plan:
      if (const Shrinking shrinking = shrinking_of(state_, policy_);
          shrink(next.plan, shrinking, now_.wall)) {
        note("plan", fmt::format("a smaller plan, {} of {}", next.plan.rung + 1,
                                 plan_ladder(shrinking).size()));
      }
      break;
    case Remedy::older_checkpoint:
      if (finds_its_own_checkpoint(policy_)) {
        // How often that is tried is not.
        if (came_further(history.faults)) history.rollbacks = 0;
        return ++history.rollbacks > policy_.rollback.tries ? Remedy::stop : Remedy::retry;
      }
      // From before the trouble; when that did not help, from before what was resumed from.
      next.below = history.rollbacks == 0 && history.trouble_step ? history.trouble_step
                                                                  : state_.current.resume_step;
      if (!next.below) next.below = {1};
      if (++history.rollbacks > policy_.rollback.tries) return Remedy::stop;
      break;
    case Remedy::quarantine_board:
      if (is_nobodys(why)) return Remedy::retry;
      each_board([&](const std::string& serial, BoardRecord& record) {
        if (!is_suspect(serial, why)) return;
        // This very end has put it there already: once more would double its time.
        if (quarantined(record, now_.wall)) return;
        quarantine(record, std::string(to_string(cause)), policy_.quarantine, now_.wall);
        note("board",
             fmt::format("board {} goes into quarantine for {}: nothing else helped against {}",
                         serial, human_duration(record.quarantined_until_wall_ms - now_.wall),
                         to_string(cause)));
        act(RecordBoard{serial, record});
      });
      break;
  }
  return remedy;
}

Verdict Turn::judged(const Verdict& verdict) {
  constexpr std::int64_t at_once_ms = 60'000;
  const bool missing = !verdict.evidence.empty() &&
                       verdict.evidence.front().source == log_rule(missing_file_rule) &&
                       !state_.current.first_step && lived_ms() < at_once_ms;
  const std::string line = missing ? verdict.evidence.front().text : "";
  const std::string before = std::exchange(state_.history.missing_file, line);
  // A run that has trained had its files: whatever took them away may bring them back.
  if (line.empty() || line != before || state_.history.highest_step) return verdict;
  Verdict changed = verdict;
  changed.cause = Cause::config;
  changed.sentence = fmt::format("config: the same file is missing again: {}", line);
  return changed;
}

// Why it is given up, with what was tried.
std::string Turn::in_vain(const Verdict& verdict) const {
  const Faults& faults = state_.history.faults;
  const auto alike =
      std::find_if(faults.rbegin(), faults.rend(),
                   [&](const Fault& fault) { return fault.cause != verdict.cause; }) -
      faults.rbegin();
  if (alike < 2) return verdict.sentence + "; nothing that can be done here would help";
  const bool one_step = std::all_of(faults.rbegin(), faults.rbegin() + alike,
                                    [&](const Fault& f) { return f.step == faults.back().step; });
  return fmt::format("{}; gave up: the last {} attempts all ended in {}{}", verdict.sentence, alike,
                     to_string(verdict.cause), one_step ? at_step(state_) : "");
}

void Turn::end_attempt(const Verdict& by_itself, std::optional<int> code,
                       std::optional<int> signal) {
  const Verdict verdict = judged(by_itself);
  Attempt& ended = state_.current;
  History& history = state_.history;
  const bool fault = is_fault(verdict.cause);
  if (fault) rebook_since_progress(state_, verdict.cause, now_, actions_);
  if (state_.stage == Stage::saving) leave_saving();
  note("exit", verdict.sentence);
  ended.pid = 0;
  state_.boards.growth.look_mono_ms.reset();
  history.last_cause = verdict.cause;
  history.disk_refused = verdict.cause == Cause::disk;
  const bool asked_for = ended.halt;
  ended.kill.reset();
  ended.halt = false;

  const bool advanced = made_progress();
  history.highest_in_memory = std::max(history.highest_in_memory, ended.memory_step);
  state_.next.disk_only = facts(verdict.cause).spoils_state;
  // What is done after a clean end is no replay, whatever a program restarts by itself.
  if (!policy_.told_to_resume && verdict.cause == Cause::done) history.highest_step = {};
  const bool our_wish = verdict.cause == Cause::stopped || verdict.cause == Cause::larger_mesh;
  if (!our_wish || advanced) charge(advanced);
  const auto as_fault = [&](Cause cause) {
    return Fault{cause, standing_at(state_), ended.last_step - began_after(), lived_ms(),
                 state_.next.plan.rung};
  };
  if (fault) {
    remember(history.faults, as_fault(verdict.cause));
    charge_board(verdict.cause, verdict.sentence, advanced);
  }
  // Recycled too late to save: for the next attempts it is what it would have become.
  if (verdict.cause == Cause::memory_leak && !advanced) {
    remember(history.faults, as_fault(Cause::host_oom));
  }
  // It was to lose nothing, and lost all: whatever ends the attempts, this is no way around it.
  if (verdict.cause == Cause::planned_restart && !advanced) history.faults.clear();
  history.planned_restarts =
      verdict.cause == Cause::planned_restart && advanced ? history.planned_restarts + 1 : 0;

  Next next;
  std::optional<Remedy> remedy;
  const bool goes_on = state_.wanted && !asked_for && verdict.cause != Cause::stopped;
  if (goes_on) {
    next = decide_next(state_, policy_, verdict);
    const bool again = next.kind == Next::Kind::at_once || next.kind == Next::Kind::after_wait;
    if (again && fault) remedy = apply_remedy(verdict.cause, verdict.sentence, advanced);
    if (remedy == Remedy::stop) {
      const bool behind_its_end = !advanced && fails_behind_its_end(verdict.cause);
      next = {Next::Kind::give_up, 0,
              behind_its_end ? fmt::format("{}; step {} is done, its last, and what comes after it "
                                           "fails again: its checkpoints are kept",
                                           verdict.sentence, history.highest_step)
                             : in_vain(verdict)};
    }
    if (next.kind == Next::Kind::give_up) remedy = Remedy::stop;
  }
  act(RecordAttemptEnded{state_.attempt, code, signal, verdict.cause, verdict.sentence,
                         verdict.evidence, remedy});
  if (!goes_on) {
    if (state_.restart_when_stopped && state_.wanted) {
      state_.restart_when_stopped = false;
      return begin_attempt("restart requested");
    }
    return settle(Stage::stopped, verdict.sentence);
  }
  switch (next.kind) {
    case Next::Kind::finished:
      state_.wanted = false;
      return settle(Stage::exited, next.why);
    case Next::Kind::give_up:
      return settle(Stage::fatal, next.why);
    case Next::Kind::at_once:
      return begin_attempt(
          !remedy || remedy == Remedy::retry
              ? std::string(to_string(verdict.cause))
              : fmt::format("{}, {}", to_string(verdict.cause), to_string(*remedy)));
    case Next::Kind::after_wait:
      enter(Stage::backoff, next.why);
      state_.watch.deadline_mono_ms = now_.mono + next.wait_ms;
      return;
  }
}

}  // namespace trainward::core
