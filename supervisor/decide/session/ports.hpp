// What a session needs of the world. The daemon gives it real hands, the simulator
// (supervisor/decide/sim) simulated ones; the making of a database from journals
// (daemon/records/rebuild.cpp) answers with what the attempts' folders say.
//
// One thread. A call that returns nothing has its answer later, as an event for Session::handle()
// or as the call of Session that is named; an answer may come before the call returns. The process
// may be killed in any of these calls: the simulator throws from them then, so nothing that calls
// them catches.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/decide/core/turn/step.hpp"
#include "supervisor/decide/session/happening.hpp"

namespace trainward::session {

// Time, and what is to be done later. Each user has its own.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Time now() const = 0;
  // In a turn of the loop of its own, in the order in which they were given.
  virtual void soon(std::function<void()> work) = 0;
  // Once; replaces what was set.
  virtual void at(MonoTime when, std::function<void()> work) = 0;
  virtual void cancel() = 0;
};

// What a commit has to survive: the death of this process, or a power cut as well, for what nobody
// else knows, such as a wish of the operator.
enum class Survives { process, power };

// Because a program's state, its records and the place in its journal are one transaction, and
// those of programs that have a turn together are one as well.
class Database {
 public:
  virtual ~Database() = default;
  // Nothing of what `write` writes stays when it fails, or the commit does.
  virtual Status transact(Survives survives, const std::function<Status()>& write) = 0;
  // It did not take what happened; the next try is in `retry_ms`. Once for each refusal.
  virtual void refuses(const Error& /*why*/, std::int64_t /*retry_ms*/) {}
  virtual void takes_again() {}
  // It has refused several times in a row for a reason that no wait mends. Once for each refusal.
  virtual void is_unfit(const Error& /*why*/) {}
};

// The rows of one program. Written inside a transaction.
class Records {
 public:
  virtual ~Records() = default;
  // What one event has led to: the state after it, and what is to be done about it.
  virtual Status record(const Happening& what, const core::State& state,
                        std::span<const core::Action> actions) = 0;
  // Once after the records of a turn. `read`: what of a journal is part of this state; empty: as
  // it was.
  virtual Status save(const core::State& state, Time at, std::optional<JournalPlace> read) = 0;
  // After the transaction. Not committed: what was recorded in it never was.
  virtual void settle(bool committed) = 0;
};

// What the core asks for beside a worker.
class Hands {
 public:
  virtual ~Hands() = default;
  virtual void probe() = 0;                            // ProbeFinished
  virtual void repair(const core::Repair& order) = 0;  // Repaired
  // …Rejected, then …Selected. First what earlier attempts have left behind is ended, which may
  // take seconds, and what the next one needs is taken: NotReady when that cannot be.
  virtual void select(const core::SelectCheckpoint& order) = 0;
  virtual void verify(const core::VerifyCheckpoint& order) = 0;  // CheckpointVerified, always
  virtual void prune() = 0;
  virtual void check_activity() = 0;  // ActivitySeen, or nothing
  // Checkpoints of this attempt that no verdict is known of: Session::unjudged(), always.
  virtual void find_unjudged(std::int64_t attempt) = 0;
  // A turn is on record, and is carried out now.
  virtual void recorded(const core::Actions& /*actions*/, Time /*at*/) {}
  // It was carried out; or the database refused it, and only what needs no record was done.
  virtual void turned(bool /*committed*/) {}
};

// Whether an attempt's shim is there.
enum class Found {
  lives,     // and Session::shim_ended() will follow
  starting,  // something of the attempt runs, and has not said yet who it is
  gone,      // it ran
  never,     // no process of the attempt exists, and nothing says that one did
};

// The shim of one attempt at a time, and the journal it writes.
class Shim {
 public:
  virtual ~Shim() = default;
  // Starts the shim. From then on the attempt is followed.
  virtual Status launch(const core::Launch& order) = 0;
  // Of an attempt that an earlier daemon launched, or may have. Session::journal_grew() is called
  // whenever there is more to read.
  virtual void follow(std::int64_t attempt) = 0;
  virtual JournalPiece read(std::int64_t offset) = 0;
  virtual Found find() = 0;
  // Returns what find() would when there is nobody to be told.
  virtual Found signal(core::Signal signal) = 0;
  // What the shim itself said last; empty: nothing.
  virtual std::string last_words() = 0;
  // The attempt's processes are gone: a last look at what they left, its logs as well if they tell
  // more of the end. Session::looked_back(), always.
  virtual void look_back(bool logs) = 0;
};

}  // namespace trainward::session
