#include "supervisor/decide/notify/teller.hpp"

#include <algorithm>
#include <variant>

#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/notify/notify_turn.hpp"

namespace trainward::notify {

bool Teller::shows_nothing(const Book& book, const core::State& state) const {
  return policy_.foreign && !state.current.first_step && book.standing.kept == 0;
}

std::optional<std::int64_t> Teller::no_progress_due(const Book& book,
                                                    const core::State& state) const {
  if (around_.policy.no_progress_ms <= 0 || book.standing.progress_ms == 0) return std::nullopt;
  // Of one that runs and shows nothing, nobody can say.
  if (shows_nothing(book, state) && core::has_worker(state.stage) &&
      state.stage != core::Stage::unkillable) {
    return std::nullopt;
  }
  std::int64_t due = book.standing.progress_ms + around_.policy.no_progress_ms;
  for (const Episode& episode : book.episodes) {
    if (episode.closed_ms != 0) continue;
    // Somebody was told already that a person has to act, or was a short while ago.
    if (episode.standing) return std::nullopt;
    if (episode.standing_told_ms == 0) continue;
    if (around_.policy.repeat_ms <= 0) return std::nullopt;
    due = std::max(due, episode.standing_told_ms + around_.policy.repeat_ms);
  }
  return due;
}

void Teller::take(Book& book, const core::Event& event, Time at, const core::State& state,
                  std::span<const core::Action> actions, Orders& orders) const {
  const std::int64_t now_ms = at.wall.ms;
  // The time in which no daemon was there is nobody's.
  if (std::holds_alternative<core::DaemonStarted>(event) && book.seen_ms > 0 &&
      book.standing.progress_ms > 0) {
    book.standing.progress_ms += std::max<std::int64_t>(now_ms - book.seen_ms, 0);
  }
  book.seen_ms = now_ms;
  Turn turn(*this, book, now_ms, state, orders);
  bool ended = false;
  for (const core::Action& action : actions) {
    if (const auto* end = std::get_if<core::RecordAttemptEnded>(&action)) {
      ended = true;
      turn.on_ended(*end, std::get_if<core::WorkerExited>(&event));
    }
  }
  turn.on_shown(ended);
  for (const core::Action& action : actions) {
    if (const auto* span = std::get_if<core::RecordSpan>(&action)) {
      turn.on_span(*span);
    } else if (const auto* step = std::get_if<core::RecordStep>(&action)) {
      turn.on_step(*step);
    } else if (const auto* board = std::get_if<core::RecordBoard>(&action)) {
      turn.on_board(*board);
    } else if (std::holds_alternative<core::RecordAttemptBegun>(action)) {
      turn.on_begun();
    }
  }
  turn.tell_without_board();
  if (const auto* selected = std::get_if<core::CheckpointSelected>(&event)) {
    turn.on_selected(*selected);
  }
  turn.on_kept();
  if (!book.episodes.empty()) turn.forget_if_stopped();
}

void Teller::tick(Book& book, std::int64_t now_ms, const core::State& state, Orders& orders) const {
  Turn(*this, book, now_ms, state, orders).tick();
}

std::optional<std::int64_t> Teller::next(const Book& book, const core::State& state) const {
  std::optional<std::int64_t> due = no_progress_due(book, state);
  const auto also = [&](std::int64_t at) { due = due ? std::min(*due, at) : at; };
  const core::Held held = core::held_by(state);
  if (held.snag == core::Snag::no_board &&
      std::ranges::none_of(book.episodes, [](const Episode& episode) {
        return episode.closed_ms == 0 && episode.family == family::boards;
      })) {
    also(held.from.ms);
  }
  for (const Episode& episode : book.episodes) {
    if (episode.closed_ms != 0) continue;
    if (episode.until_ms > 0) also(episode.until_ms);
    if (episode.standing && around_.policy.repeat_ms > 0) {
      also(episode.standing_told_ms + around_.policy.repeat_ms);
    }
  }
  return due;
}

}  // namespace trainward::notify
