// One transaction for what happened to all programs in a turn of the loop: a hundred programs that
// start together cost a handful of fsyncs.
//
// Order of every turn: events → core → one transaction (states, records, journal offsets) → side
// effects. When the commit fails nothing else happens: the events are kept and tried again each
// second, and meanwhile the shims keep training and their journals going. A program whose records
// alone are refused does not hold the others up.
#pragma once

#include <vector>

#include "common/error.hpp"
#include "supervisor/daemon/loop.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

class Participant {
 public:
  virtual ~Participant() = default;
  // Whether something waits that only the operator knows.
  [[nodiscard]] virtual bool wishes() const = 0;
  // Decides on everything that is waiting and writes the records into the open transaction.
  virtual Status prepare() = 0;
  // After the transaction: adopt what was decided and act on it, or forget it.
  virtual void finish(bool committed) = 0;
};

class Turns {
 public:
  Turns(Loop& loop, store::Store& store) : loop_(loop), store_(store), retry_(loop) {}

  // Something waits for `participant`; its turn comes on the loop, once.
  void request(Participant* participant);
  void forget(Participant* participant);
  void now() { turn(); }  // what waits, without waiting for the loop
  // True while the database refuses what happened.
  [[nodiscard]] bool stuck() const { return stuck_; }

 private:
  void turn();
  Status commit(const std::vector<Participant*>& together);
  void finish(std::vector<Participant*> together, bool committed);
  void report(const Status& saved);

  Loop& loop_;
  store::Store& store_;
  Timer retry_;
  std::vector<Participant*> due_;
  std::vector<Participant*> finishing_;  // null: removed meanwhile
  bool posted_ = false;
  bool stuck_ = false;
};

}  // namespace trainward::daemon
