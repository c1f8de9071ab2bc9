// Ends of attempts, and what comes after them until more is kept than before.
#include <algorithm>
#include <utility>

#include "common/base/utf8.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/core/remedy.hpp"
#include "supervisor/decide/notify/notify_turn.hpp"

namespace trainward::notify {
namespace {

constexpr std::int64_t often_enough_ms = 60'000;  // how exactly progress by steps is remembered
constexpr std::size_t most_evidence = 400;        // bytes that are remembered of a line

std::string shortened_evidence(std::string text) {
  text.resize(utf8_valid_prefix(std::string_view(text).substr(0, most_evidence)));
  return text;
}

// What of a program's time comes to something.
bool useful(core::Phase phase) {
  return phase == core::Phase::stepping || phase == core::Phase::saving ||
         phase == core::Phase::evaluating;
}

}  // namespace

void Teller::Turn::on_ended(const core::RecordAttemptEnded& ended,
                            const core::WorkerExited* exited) {
  if (!core::is_fault(ended.cause)) return;
  const Family family = family_of(ended.cause);
  Episode* open = find(family.name);
  const bool fresh = open == nullptr;
  Episode& episode = fresh ? begin(family.name) : *open;
  const core::Attempt& attempt = state_.current;
  End& end = episode.end = {};
  end.attempt = ended.attempt;
  end.cause = ended.cause;
  end.verdict = ended.verdict;
  if (!ended.evidence.empty()) {
    end.evidence = shortened_evidence(ended.evidence.front().text);
    end.evidence_place = ended.evidence.front().location;
  }
  if (ended.remedy) end.remedy = to_string(*ended.remedy);
  end.board = state_.boards.board;
  end.step = attempt.last_step.number;
  end.kept = state_.history.kept_step.number;
  end.at_ms = now_ms_;
  if (exited != nullptr) end.lines = shown_lines(exited->last_lines, t_.around_.policy.log_lines);
  ++episode.ends;
  ++episode.causes[ended.cause];
  episode.goes_on = false;
  episode.until_ms = 0;
  if (t_.policy_.told_to_resume && attempt.first_step) {
    episode.lost_steps += std::max<std::int64_t>(
        attempt.last_step - std::max(state_.history.kept_step, attempt.resume_step), 0);
  }
  // What is given up is told as such (on_shown), with all that is known here.
  if (core::shown(state_.stage) != core::Shown::fatal) tell_of_end(episode, fresh, family.kind);
}

void Teller::Turn::tell_of_end(Episode& episode, bool fresh, Kind kind) {
  Past& past = book_.standing.past[episode.family];
  if (fresh) {
    if (now_ms_ - past.last_ms >= calm_ms || now_ms_ < past.last_ms) past = {};
    past.last_ms = now_ms_;
    episode.spared = ++past.episodes > 1;
  }
  if (notify::facts(kind).tier == Tier::critical) {
    if (!episode.standing) tell(episode, kind);
    return;
  }
  if (const core::Snag snag = core::snag_at(state_, WallTime{now_ms_});
      snag == core::Snag::same_end || snag == core::Snag::missing_file) {
    episode.looped = true;
    if (!episode.standing) tell(episode, Kind::stuck);
    return;
  }
  const bool looped = std::ranges::any_of(
      book_.episodes, [](const Episode& other) { return other.closed_ms == 0 && other.looped; });
  if (!looped && state_.history.attempts_without_progress >= loop_attempts) {
    episode.looped = true;
    return tell(episode, Kind::crash_loop);
  }
  if (fresh && !episode.spared) {
    const bool rests = core::facts(core::shown(state_.stage)).over;
    return tell(episode, kind, {.hold = rests ? Hold::no : Hold::usual});
  }
  if (fresh && past.episodes >= often_episodes && !std::exchange(past.told_often, true)) {
    episode.looped = true;
    return tell(episode, Kind::crash_loop, {.often = true, .episodes = past.episodes});
  }
  // What is not due yet tells of the newest, and is as urgent as it was.
  if (pending(episode) && notify::facts(episode.held_kind).held) {
    const bool critical = notify::facts(episode.held_kind).tier == Tier::critical;
    tell(episode, critical ? episode.held_kind : kind, {.hold = Hold::as_before});
  }
}

void Teller::Turn::on_span(const core::RecordSpan& span) {
  if (useful(span.phase)) return;
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms == 0 && of_ends(episode)) episode.lost_ms += span.duration_ms;
  }
}

void Teller::Turn::on_begun() {
  if (Episode* boards = find(family::boards)) close(*boards, Kind::recovered);
  if (!t_.shows_nothing(book_, state_)) return;
  // All that will be seen of it is that it lives.
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms == 0 && of_ends(episode)) {
      episode.until_ms = now_ms_ + core::progress_unseen_ms;
    }
  }
}

void Teller::Turn::on_step(const core::RecordStep& step) {
  Standing& standing = book_.standing;
  if (!step.replayed && standing.kept == 0 && standing.progress_ms > 0) {
    if (now_ms_ - standing.progress_ms >= often_enough_ms) standing.progress_ms = now_ms_;
  }
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms != 0) continue;
    if (of_ends(episode) && !episode.goes_on && state_.attempt > episode.end.attempt) {
      episode.goes_on = true;
      episode.until_ms = 0;
      if (pending(episode) && notify::facts(episode.held_kind).held) {
        tell(episode, episode.held_kind, {.hold = Hold::no});
      }
    }
    const bool by_steps = episode.standing == Kind::no_progress && standing.kept == 0;
    if (!by_steps || step.replayed) continue;
    if (of_ends(episode)) {
      episode.standing.reset();
    } else {
      close(episode, Kind::recovered);
    }
  }
  if (!t_.policy_.keeps_checkpoints && !step.replayed) close_ends(true);
}

void Teller::Turn::close_ends(bool by_steps) {
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms != 0 || !of_ends(episode)) continue;
    const bool past = by_steps ? state_.history.highest_step.number > episode.past_highest
                               : book_.standing.kept > episode.past_kept;
    if (past && state_.attempt > episode.end.attempt) close(episode, Kind::recovered);
  }
}

void Teller::Turn::on_kept() {
  Standing& standing = book_.standing;
  if (state_.history.kept_step.number <= standing.kept) return;
  standing.kept = state_.history.kept_step.number;
  if (standing.progress_ms > 0) standing.progress_ms = now_ms_;
  for (const std::string_view family : {family::progress, family::checkpoints}) {
    if (Episode* episode = find(family)) close(*episode, Kind::recovered);
  }
  close_ends(false);
}

}  // namespace trainward::notify
