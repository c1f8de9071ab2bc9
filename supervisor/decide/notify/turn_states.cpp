// Boards, checkpoints, the state of the program, and what time alone brings.
#include <algorithm>
#include <utility>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/notify/notify_turn.hpp"

namespace trainward::notify {
namespace {

constexpr int unreadable_looks = 3;  // in a row, before somebody is told

bool rests(std::string_view shown) { return core::facts(core::shown_from(shown)).over; }

}  // namespace

// ---- boards and checkpoints ----

void Teller::Turn::on_board(const core::RecordBoard& board) {
  const std::int64_t until = board.record.quarantined_until_wall_ms.ms;
  if (until <= now_ms_) return;
  const std::string family = std::string(family::one_board) + board.serial;
  if (Episode* open = find(family)) {
    open->until_ms = until;
    return;
  }
  Episode& episode = begin(family, "board " + board.serial + " is in quarantine until " +
                                       iso8601(until) + ": " + board.record.reason);
  episode.until_ms = until;
  tell(episode, Kind::board);
}

void Teller::Turn::tell_without_board() {
  if (core::snag_at(state_, WallTime{now_ms_}) != core::Snag::no_board) return;
  if (find(family::boards) == nullptr) tell(begin(family::boards, state_.reason), Kind::no_board);
}

// Checkpoints that cannot be read: over when they can be. A start from scratch: over when the run
// has regained what was lost.
void Teller::Turn::on_selected(const core::CheckpointSelected& selected) {
  Episode* open = find(family::checkpoints);
  if (!selected.error.empty()) {
    const core::History& history = state_.history;
    // Of a server of others that is to give the first one it may take longer.
    const bool soon = history.unreadable >= unreadable_looks ||
                      (history.missing >= unreadable_looks && book_.standing.kept > 0);
    if (open != nullptr ||
        (!soon && core::snag_at(state_, {now_ms_}) != core::Snag::no_checkpoint)) {
      return;
    }
    Episode& episode =
        begin(family::checkpoints,
              (selected.missing ? "" : "checkpoints cannot be read: ") + selected.error);
    episode.past_kept = 0;
    return tell(episode, Kind::no_checkpoint);
  }
  const std::int64_t lost = book_.standing.kept;
  const bool anew = selected.path.empty() && t_.policy_.told_to_resume && lost > 0 &&
                    state_.stage == core::Stage::launching;
  if (anew) {
    // What it does from here on is more than what is there.
    book_.standing.kept = 0;
    for (Episode& episode : book_.episodes) episode.past_kept = 0;
  }
  if (!anew || state_.current.from_scratch) {
    if (open != nullptr && selected.step.number >= open->past_kept) {
      close(*open, Kind::recovered);
    }
    return;
  }
  const std::string what = "no checkpoint can be used, so it starts from scratch, though step " +
                           std::to_string(lost) + " had been kept";
  Episode& episode = open != nullptr ? *open : begin(family::checkpoints, what);
  episode.what = what;
  episode.past_kept = lost;
  tell(episode, Kind::no_checkpoint);
}

// ---- states ----

// `ended_now`: an attempt ended in the same event.
void Teller::Turn::on_shown(bool ended_now) {
  Standing& standing = book_.standing;
  const core::Shown shown = core::shown(state_.stage);
  const std::string now(to_string(shown));
  if (standing.shown == now) return;
  const std::string was = std::exchange(standing.shown, now);
  if (was.empty()) {  // it was like this before anybody looked
    standing.kept = std::max(standing.kept, state_.history.kept_step.number);
    standing.progress_ms = rests(now) ? 0 : now_ms_;
    if (!ended_now) return;
  }
  if (rests(now)) {
    standing.progress_ms = 0;
  } else if (rests(was) || standing.progress_ms == 0) {
    standing.progress_ms = now_ms_;
    for (Episode& episode : book_.episodes) {
      if (episode.standing == Kind::gave_up) episode.standing.reset();
    }
  }
  if (was == to_string(core::Shown::unkillable)) {
    if (Episode* episode = find(family::unkillable)) close(*episode, Kind::recovered);
  }
  if (shown == core::Shown::fatal) {
    Episode* episode = find(family_of(state_.history.last_cause).name);
    if (episode == nullptr) episode = first_of_ends();
    if (episode == nullptr) {
      episode = &begin(family_of(state_.history.last_cause).name);
      episode->ends = 1;
      episode->end.attempt = state_.attempt;
      episode->end.cause = state_.history.last_cause;
      episode->end.verdict = state_.reason;
    }
    tell(*episode, Kind::gave_up);
  } else if (shown == core::Shown::unkillable) {
    tell(begin(family::unkillable, state_.reason), Kind::unkillable);
  } else if (shown == core::Shown::exited && state_.history.last_cause == core::Cause::done) {
    tell_of_done();
  }
}

// What was told of it is over with it: the message closes the first episode that somebody was told
// of, and the others are closed after it.
void Teller::Turn::tell_of_done() {
  // A board is in quarantine whatever becomes of the program.
  const auto over = [](const Episode& episode) {
    return episode.closed_ms == 0 && !episode.family.starts_with(family::one_board);
  };
  Episode own;
  Episode* told = nullptr;
  for (Episode& episode : book_.episodes) {
    if (over(episode) && episode.told && told == nullptr) told = &episode;
  }
  const std::optional<Tier> tier = told != nullptr ? told->told : std::nullopt;
  if (told != nullptr) take_back(*told);
  Message message = message_of(own, Kind::done, {});
  message.episode = told != nullptr ? told->id : 0;
  message.resolves = told != nullptr;
  message.started_ms = told != nullptr ? told->opened_ms : now_ms_;
  message.not_before_ms = unhurried(t_.around_.policy, now_ms_, t_.around_.zone);
  orders_.messages.push_back(std::move(message));
  if (told != nullptr) told->told.reset();
  for (Episode& episode : book_.episodes) {
    if (over(episode)) close(episode, Kind::recovered);
  }
  if (told != nullptr) told->told = tier;
}

// By somebody who knows of it.
void Teller::Turn::forget_if_stopped() {
  const core::Shown shown = core::shown(state_.stage);
  if (state_.wanted || (shown != core::Shown::stopped && shown != core::Shown::fatal)) return;
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms == 0 && !episode.family.starts_with(family::one_board)) {
      close(episode, Kind::closed);
    }
  }
}

// ---- time ----

void Teller::Turn::tick() {
  const std::int64_t repeat = t_.around_.policy.repeat_ms;
  if (const auto due = t_.no_progress_due(book_, state_); due && *due <= now_ms_) {
    Episode* episode = first_of_ends();
    if (episode == nullptr) episode = find(family::progress);
    tell(episode != nullptr ? *episode : begin(family::progress, "nothing new was kept"),
         Kind::no_progress);
  }
  tell_without_board();
  for (Episode& episode : book_.episodes) {
    if (episode.closed_ms != 0) continue;
    if (episode.until_ms > 0 && episode.until_ms <= now_ms_) {
      const bool lives = core::has_worker(state_.stage) && t_.shows_nothing(book_, state_);
      episode.until_ms = 0;
      if (!of_ends(episode) || lives) close(episode, Kind::recovered);
      continue;
    }
    episode.standing_told_ms = std::min(episode.standing_told_ms, now_ms_);
    if (episode.standing && repeat > 0 && now_ms_ - episode.standing_told_ms >= repeat) {
      tell(episode, *episode.standing, {.again = true});
    }
  }
}

}  // namespace trainward::notify
