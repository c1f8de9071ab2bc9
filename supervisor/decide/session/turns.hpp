// One transaction for what happened to all programs in a turn of the loop: a hundred programs that
// start together cost a handful of fsyncs.
//
// Order of every turn: events → core → one transaction (states, records, journal offsets) → side
// effects. When the commit fails the events are kept and tried again each second, while the shims
// keep training and their journals going; a participant then does only what is safe without a
// record. A program whose records alone are refused does not hold the others up. A database that
// refuses three times in a row what it will never take (a constraint that its content violates,
// damage) is reported as unfit.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "supervisor/decide/session/ports.hpp"

namespace trainward::session {

class Participant {
 public:
  virtual ~Participant() = default;
  // Whether something waits that only the operator knows.
  [[nodiscard]] virtual bool wishes() const = 0;
  // Decides on everything that is waiting and writes the records into the open transaction.
  virtual Status prepare() = 0;
  // After the transaction: adopt what was decided and act on it. Not committed: prepare() may not
  // have been called, and comes again.
  virtual void finish(bool committed) = 0;
};

class Turns {
 public:
  Turns(Clock& clock, Database& database) : clock_(clock), database_(database) {}

  // Something waits for `participant`; its turn comes on the loop, once.
  void request(Participant* participant);
  void forget(Participant* participant);
  void now() { turn(); }  // what waits, without waiting for the loop
  // Why and since when the database refuses what happened; nothing while it takes it.
  struct Refusal {
    Error error;
    Time since;
    int in_vain = 0;  // tries in a row that a wait does not mend
  };
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  void add(Participant* participant);
  void turn();
  using Some = std::span<Participant*>;
  Status commit(Some some);
  void finish(Some some, bool committed);
  void report(const Status& saved);

  Clock& clock_;
  Database& database_;
  std::vector<Participant*> due_;
  std::vector<Participant*> together_;  // whose turn it is; null: removed meanwhile
  bool posted_ = false;
  std::optional<Refusal> refusal_;
};

}  // namespace trainward::session
