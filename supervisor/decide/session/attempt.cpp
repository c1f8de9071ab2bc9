#include "supervisor/decide/session/attempt.hpp"

#include <utility>

namespace trainward::session {

Attempt::Attempt(Shim& shim, Clock& clock, std::int64_t number, std::int64_t offset,
                 Listener listener)
    : shim_(shim),
      clock_(clock),
      number_(number),
      offset_(offset),
      listener_(std::move(listener)) {}

Attempt::~Attempt() { *alive_ = false; }

void Attempt::soon(void (Attempt::*what)()) {
  clock_.soon([this, what, alive = alive_] {
    if (*alive) (this->*what)();
  });
}

void Attempt::read() { take(shim_.read(offset_)); }

void Attempt::take(JournalPiece piece) {
  offset_ = piece.next_offset;
  behind_ = piece.more;
  if (piece.ending) {
    ending_ = std::move(piece.ending);
    ending_offset_ = piece.ending_offset;
  }
  for (Happening& what : piece.said) {
    // An earlier daemon started this shim and died; it reports only now.
    const bool says_who = std::holds_alternative<core::WorkerStarted>(what.event);
    if (says_who && std::exchange(unknown_, false)) {
      clock_.soon([this, alive = alive_] {
        if (*alive) adopt();
      });
    }
    listener_.said(std::move(what));
  }
}

// A flood of records is committed piece by piece.
void Attempt::read_on() {
  const bool was_behind = behind_;
  read();
  if (behind_) return soon(&Attempt::read_on);
  if (was_behind) listener_.caught_up();
}

bool Attempt::adopt() {
  unknown_ = false;
  switch (shim_.find()) {
    case Found::lives:
      if (const auto late = std::exchange(undelivered_, std::nullopt)) signal(*late);
      return true;
    case Found::starting:
      if (ending_) break;
      unknown_ = true;  // its first record will come
      return true;
    case Found::never:
      if (!ending_) lose("the daemon ended between the decision and the launch");
      break;
    case Found::gone:
      break;
  }
  soon(&Attempt::shim_ended);
  return false;
}

void Attempt::signal(core::Signal signal) {
  const Found found = shim_.signal(signal);
  if (found == Found::starting) undelivered_ = signal;
  if (found == Found::never) nobody_left();
}

void Attempt::nobody_left() {
  if (ending_) return;
  lose("no process of this attempt exists");
  soon(&Attempt::shim_ended);
}

void Attempt::lose(std::string what) {
  ending_ = Happening{core::AttemptLost{std::move(what)}, listener_.now()};
  ending_offset_ = offset_;
}

void Attempt::add_evidence(LogEvidence evidence) {
  if (auto* exited = ending_ ? std::get_if<core::WorkerExited>(&ending_->event) : nullptr) {
    exited->matches = std::move(evidence.matches);
    exited->last_words = std::move(evidence.last_words);
    exited->last_lines = std::move(evidence.last_lines);
  }
}

// The shim lets the leases go when it ends, so only then may the next attempt begin.
void Attempt::shim_ended() {
  if (over_) return;
  read();
  if (behind_) return soon(&Attempt::shim_ended);
  if (!ending_) {
    const std::string said = shim_.last_words();
    lose("the shim ended without an exit record" + (said.empty() ? "" : ": " + said));
  }
  over_ = true;
  listener_.ended();
}

}  // namespace trainward::session
