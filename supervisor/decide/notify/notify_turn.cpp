#include "supervisor/decide/notify/notify_turn.hpp"

#include <algorithm>
#include <utility>

namespace trainward::notify {

Episode* Teller::Turn::find(std::string_view family) {
  const auto found = std::ranges::find_if(book_.episodes, [&](const Episode& episode) {
    return episode.closed_ms == 0 && episode.family == family;
  });
  return found == book_.episodes.end() ? nullptr : &*found;
}

Episode* Teller::Turn::first_of_ends() {
  const auto found = std::ranges::find_if(book_.episodes, [](const Episode& episode) {
    return episode.closed_ms == 0 && of_ends(episode);
  });
  return found == book_.episodes.end() ? nullptr : &*found;
}

Episode& Teller::Turn::begin(std::string_view family, std::string what) {
  Episode& episode = book_.episodes.emplace_back();
  episode.id = t_.around_.new_id(now_ms_);
  episode.family = family;
  episode.opened_ms = now_ms_;
  episode.what = std::move(what);
  episode.past_kept = book_.standing.kept;
  episode.past_highest = state_.history.highest_step.number;
  return episode;
}

Message Teller::Turn::message_of(const Episode& episode, Kind kind, const How& how) const {
  const bool plain = kind == Kind::done || kind == Kind::closed;
  Message message =
      worded({.kind = kind,
              .program = t_.program_,
              .episode = episode,
              .state = state_,
              .policy = t_.around_.policy,
              .figures = t_.around_.figures && !plain ? t_.around_.figures(t_.program_, now_ms_)
                                                      : Figures{},
              .at_ms = now_ms_,
              .target_step = core::target_of(state_, t_.policy_.target_step).number,
              .progress_ms = book_.standing.progress_ms,
              .again = how.again,
              .often = how.often,
              .episodes = how.episodes});
  message.id = t_.around_.new_id(now_ms_);
  message.at_ms = now_ms_;
  message.episode = episode.id;
  message.started_ms = episode.opened_ms;
  return message;
}

// What waited to be told of the episode, and is told otherwise now.
void Teller::Turn::take_back(Episode& episode) {
  if (pending(episode)) orders_.taken_back.push_back(episode.held);
  episode.held = 0;
  episode.held_until_ms = 0;
}

void Teller::Turn::tell(Episode& episode, Kind kind, const How& how) {
  const KindFacts& facts = notify::facts(kind);
  const Policy& policy = t_.around_.policy;
  Message message = message_of(episode, kind, how);
  std::int64_t due = now_ms_;
  if (how.hold == Hold::as_before) {
    due = std::max(episode.held_until_ms, now_ms_);
  } else {
    if (how.hold == Hold::usual && facts.held) due += policy.hold_ms;
    if (facts.tier != Tier::critical) due = unhurried(policy, due, t_.around_.zone);
  }
  message.not_before_ms = due;
  take_back(episode);
  if (due > now_ms_) {
    episode.held = message.id;
    episode.held_until_ms = due;
    episode.held_kind = kind;
  }
  episode.told = std::max(episode.told.value_or(Tier::info), facts.tier);
  if (facts.tier == Tier::critical) {
    episode.standing = kind;
    episode.standing_told_ms = now_ms_;
  }
  orders_.messages.push_back(std::move(message));
}

// Those told of its start are told of its end, in one message where the first was not due yet.
void Teller::Turn::close(Episode& episode, Kind kind) {
  const bool waited = pending(episode);
  const Kind first = episode.held_kind;
  take_back(episode);
  // The person who stopped it was there.
  const bool spared = kind == Kind::closed && waited && episode.told < Tier::critical;
  if (episode.told && !spared) {
    Message message = message_of(episode, kind, {});
    // What was over before it was due wakes nobody.
    if (waited && kind == Kind::recovered) {
      message.tier = std::max(message.tier, std::min(notify::facts(first).tier, Tier::warning));
    }
    message.not_before_ms = unhurried(t_.around_.policy, now_ms_, t_.around_.zone);
    message.resolves = true;
    orders_.messages.push_back(std::move(message));
  }
  episode.standing.reset();
  episode.closed_ms = now_ms_;
  if (auto past = book_.standing.past.find(episode.family); past != book_.standing.past.end()) {
    past->second.last_ms = now_ms_;
  }
}

}  // namespace trainward::notify
