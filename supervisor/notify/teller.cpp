#include "supervisor/notify/teller.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/core/cause.hpp"
#include "supervisor/core/remedy.hpp"
#include "supervisor/notify/texts.hpp"

namespace trainward::notify {
namespace {

constexpr std::int64_t often_enough_ms = 60'000;  // how exactly progress by steps is remembered
constexpr int unreadable_looks = 3;               // in a row, before somebody is told
constexpr std::size_t most_evidence = 400;        // characters that are remembered of a line

std::string shortened_evidence(std::string text) {
  if (text.size() > most_evidence) text.resize(most_evidence);
  return text;
}

bool rests(std::string_view shown) { return core::facts(core::shown_from(shown)).over; }

// What of a program's time comes to something.
bool useful(core::Phase phase) {
  return phase == core::Phase::stepping || phase == core::Phase::saving ||
         phase == core::Phase::evaluating;
}

}  // namespace

// One call of take() or tick().
class Teller::Turn {
 public:
  Turn(const Teller& teller, Book& book, std::int64_t now_ms, const core::State& state,
       Orders& orders)
      : t_(teller), book_(book), now_ms_(now_ms), state_(state), orders_(orders) {}

  void on_ended(const core::RecordAttemptEnded& ended, const core::WorkerExited* exited);
  void on_span(const core::RecordSpan& span);
  void on_step(const core::RecordStep& step);
  void on_begun();
  void on_board(const core::RecordBoard& board);
  void on_looked(const core::ProbeFinished& looked, WallTime now);
  void on_selected(const core::CheckpointSelected& selected);
  void on_kept();
  void on_shown(bool ended_now);
  void forget_if_stopped();
  void tick();

 private:
  enum class Hold { no, usual, as_before };
  struct How {
    Hold hold = Hold::usual;
    bool again = false;
    bool often = false;
    std::int64_t episodes = 0;
  };

  Episode* find(std::string_view family);
  Episode* first_of_ends();
  Episode& begin(std::string_view family, std::string what = {});
  void tell(Episode& episode, Kind kind, const How& how);
  void tell(Episode& episode, Kind kind) { tell(episode, kind, {}); }
  Message message_of(const Episode& episode, Kind kind, const How& how) const;
  [[nodiscard]] bool pending(const Episode& episode) const {
    return episode.held != 0 && episode.held_until_ms > now_ms_;
  }
  void take_back(Episode& episode);
  void close(Episode& episode, Kind kind);
  void close_ends(bool by_steps);
  void tell_of_end(Episode& episode, bool fresh, Kind kind);
  void tell_of_done();

  const Teller& t_;
  Book& book_;
  std::int64_t now_ms_;
  const core::State& state_;
  Orders& orders_;
};

// ---- episodes ----

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
  } else if (facts.tier != Tier::critical) {
    const bool held = how.hold == Hold::usual && facts.held;
    due = unhurried(policy, now_ms_ + (held ? policy.hold_ms : 0), t_.around_.zone);
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

// Whoever was told of its begin is told of its end, in one message where the first was not due yet.
void Teller::Turn::close(Episode& episode, Kind kind) {
  const bool waited = pending(episode);
  const Kind first = episode.held_kind;
  take_back(episode);
  // Whoever has stopped it was there.
  const bool spared = kind == Kind::closed && waited && episode.told < Tier::critical;
  if (episode.told && !spared) {
    Message message = message_of(episode, kind, {});
    if (waited && kind == Kind::recovered) {
      message.tier = std::max(message.tier, notify::facts(first).tier);
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

// ---- ends of attempts ----

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
  // What is not due yet tells of the newest.
  if (pending(episode) && notify::facts(episode.held_kind).held) {
    tell(episode, kind, {.hold = Hold::as_before});
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

void Teller::Turn::on_looked(const core::ProbeFinished& looked, WallTime now) {
  const bool none = !looked.boards.empty() && looked.error.empty() &&
                    std::ranges::all_of(looked.boards, [&](const core::BoardFound& board) {
                      return core::quarantined(board.record, now);
                    });
  if (!none || find(family::boards) != nullptr) return;
  tell(begin(family::boards, state_.reason), Kind::no_board);
}

void Teller::Turn::on_selected(const core::CheckpointSelected& selected) {
  Episode* open = find(family::checkpoints);
  if (!selected.error.empty()) {
    if (open == nullptr && state_.history.unreadable >= unreadable_looks) {
      tell(begin(family::checkpoints, "checkpoints cannot be read: " + selected.error),
           Kind::no_checkpoint);
    }
    return;
  }
  const bool anew = selected.path.empty() && t_.policy_.told_to_resume && book_.standing.kept > 0 &&
                    state_.stage == core::Stage::launching;
  if (!anew) {
    if (open != nullptr) close(*open, Kind::recovered);
    return;
  }
  const std::string what = "no checkpoint can be used, so that it begins anew, though step " +
                           std::to_string(book_.standing.kept) + " had been kept";
  // What it does from here on is more than what is there.
  book_.standing.kept = 0;
  for (Episode& episode : book_.episodes) episode.past_kept = 0;
  if (open != nullptr) open->what = what;
  tell(open != nullptr ? *open : begin(family::checkpoints, what), Kind::no_checkpoint);
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

// ---- Teller ----

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
  if (const auto* looked = std::get_if<core::ProbeFinished>(&event)) {
    turn.on_looked(*looked, at.wall);
  } else if (const auto* selected = std::get_if<core::CheckpointSelected>(&event)) {
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
