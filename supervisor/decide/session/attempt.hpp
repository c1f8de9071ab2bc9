// One attempt as it is heard of: its journal piece by piece, its shim, and how it ended.
//
// For one that this daemon has launched, or one that an earlier daemon left. The journal is read
// from an offset that is committed together with what its records caused, so each record counts
// once. The end is held back until the shim is gone: only then are the leases free.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "supervisor/decide/session/ports.hpp"

namespace trainward::session {

class Attempt {
 public:
  struct Listener {
    std::function<void(Happening&&)> said;  // in the order of the journal
    std::function<void()> caught_up;        // behind() no longer, whatever the last piece said
    std::function<void()> ended;            // ending() is there; once
    std::function<Time()> now;              // of what no record tells
  };

  // `offset`: what of the journal has been counted.
  Attempt(Shim& shim, Clock& clock, std::int64_t number, std::int64_t offset, Listener listener);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void read();     // the next piece
  void read_on();  // all there is, with a turn for everybody else between two pieces
  [[nodiscard]] bool behind() const { return behind_; }  // there is more to read
  // Looks for a shim that lives. If no shim does, the attempt has ended, or was never launched:
  // `ended` follows. Returns whether a shim lives or may be about to start.
  bool adopt();
  // A shim that has yet to say who it is gets it then. When it turns out that there is no process
  // at all the attempt ends.
  void signal(core::Signal signal);
  void shim_ended();
  void nobody_left();  // no process of it exists, and nobody will tell of its end

  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] const std::optional<Happening>& ending() const { return ending_; }
  void add_evidence(LogEvidence evidence);
  [[nodiscard]] bool over() const { return over_; }  // its shim is gone, and `ended` was called
  // What of the journal is counted once everything is that was said: an ending that is held back
  // has to be read again by a next daemon.
  [[nodiscard]] JournalPlace place() const { return {number_, ending_ ? ending_offset_ : offset_}; }

 private:
  void take(JournalPiece piece);
  void lose(std::string what);
  void soon(void (Attempt::*what)());

  Shim& shim_;
  Clock& clock_;
  std::int64_t number_;
  std::int64_t offset_;
  Listener listener_;
  std::optional<Happening> ending_;
  std::int64_t ending_offset_ = 0;
  bool behind_ = false;
  bool unknown_ = false;                     // a shim that has not said yet who it is
  std::optional<core::Signal> undelivered_;  // to that one
  bool over_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::session
