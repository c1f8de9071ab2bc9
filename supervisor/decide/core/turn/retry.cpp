#include "supervisor/decide/core/turn/retry.hpp"

#include <algorithm>
#include <functional>

#include "common/base/random.hpp"
#include "common/base/text.hpp"

namespace trainward::core {
namespace {

bool possible(Remedy remedy, const State& state, const Policy& policy) {
  switch (remedy) {
    case Remedy::retry:
    case Remedy::stop:
    case Remedy::purge_caches:
      return true;
    case Remedy::reset_board:
      return policy.can_reset;
    case Remedy::shrink_plan:
      return state.next.plan.rung + 1 <
             static_cast<int>(plan_ladder(shrinking_of(state, policy)).size());
    case Remedy::older_checkpoint:
      return state.current.resume_step || state.history.kept_step ||
             finds_its_own_checkpoint(policy);
    case Remedy::quarantine_board:
      return !state.boards.board.empty();
  }
  return false;
}

// What it has come to. Of one that finds its own place, nobody knows what it can go on from.
std::string progress_words(const State& state, const Policy& policy) {
  return policy.told_to_resume
             ? fmt::format("verified step (verified: {})", state.history.kept_step)
             : fmt::format("step (done: {})", state.history.highest_step);
}

}  // namespace

std::int64_t backoff_ms(const Backoff& backoff, int failures, std::uint64_t salt) {
  std::int64_t whole = std::max<std::int64_t>(backoff.first_ms, 1);
  for (int i = 1; i < failures && whole < backoff.max_ms; ++i) whole *= 2;
  whole = std::min(whole, std::max<std::int64_t>(backoff.max_ms, 1));
  const std::int64_t half = whole / 2;
  const auto choices = static_cast<std::uint64_t>(whole - half + 1);
  return half + static_cast<std::int64_t>(splitmix64(salt) % choices);
}

Next decide_next(const State& state, const Policy& policy, const Verdict& verdict) {
  const History& history = state.history;
  using Kind = Next::Kind;
  if (verdict.cause == Cause::done && policy.autorestart != Autorestart::always) {
    const bool plain = verdict.evidence.empty() || verdict.evidence.front().source == "exit status";
    return {Kind::finished, 0, plain ? "done" + at_step(state) : verdict.sentence};
  }
  if (policy.autorestart == Autorestart::never) {
    return {Kind::finished, 0, verdict.sentence};
  }
  if (!may_retry(verdict.cause) && verdict.cause != Cause::done) {
    return {Kind::give_up, 0, fmt::format("{}; a retry cannot help", verdict.sentence)};
  }
  if (history.charged_attempts >= policy.budgets.attempts) {
    return {Kind::give_up, 0,
            fmt::format("attempt budget spent: {} without a new verified step; last: {}",
                        count(history.charged_attempts, "attempt"), verdict.sentence)};
  }
  if (history.attempts_without_progress >= policy.budgets.attempts_without_progress) {
    return {Kind::give_up, 0,
            fmt::format("{} in a row without a new {}; last: {}",
                        count(history.attempts_without_progress, "attempt"),
                        progress_words(state, policy), verdict.sentence)};
  }
  if (history.time_without_progress_ms >= policy.budgets.time_without_progress_ms) {
    return {Kind::give_up, 0,
            fmt::format("{} of attempts without a new {}; last: {}",
                        human_duration(history.time_without_progress_ms),
                        progress_words(state, policy), verdict.sentence)};
  }
  if (history.attempts_without_progress == 0 || facts(verdict.cause).then == Then::at_once) {
    return {};
  }
  const auto salt =
      static_cast<std::uint64_t>(state.attempt) ^ std::hash<std::string>{}(state.boards.board);
  const std::int64_t wait = backoff_ms(policy.backoff, history.attempts_without_progress, salt);
  return {Kind::after_wait, wait, verdict.sentence};
}

Remedy climb(State& state, const Policy& policy, Cause cause, bool deterministic) {
  const Ladder& ladder = facts(cause).ladder;
  int& rung = state.history.rungs[cause];
  while (rung < static_cast<int>(ladder.size)) {
    const Remedy remedy = ladder.rungs.at(static_cast<std::size_t>(rung));
    // The last rung is not left again.
    if (remedy == Remedy::stop || ladder.size == 1) break;
    ++rung;
    if (deterministic && remedy == Remedy::retry) continue;
    if (possible(remedy, state, policy)) return remedy;
  }
  if (ladder.back() != Remedy::stop) return Remedy::retry;
  // At the end of the ladder only proof that nothing changes stops a run before its budgets do.
  return deterministic || facts(cause).hopeless ? Remedy::stop : Remedy::retry;
}

}  // namespace trainward::core
