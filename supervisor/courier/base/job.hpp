// What the courier does for one receiver: a channel, a tracker, a program's target for checkpoints.
//
// Every job has a thread of its own, so that one that hangs holds up nobody else. It reads the run
// database through a read-only Store of its own, keeps what must outlive the process in the journal
// (journal.hpp), and is called again when its time has come or the daemon has committed something.
// A call may take hours. Then it holds no snapshot of the Store meanwhile: the daemon's log of
// changes would grow as long.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::courier {

struct World {
  const store::Store& store;  // of this thread alone
  Journal& journal;           // shared; locks itself
  std::int64_t now_ms = 0;
  std::stop_token stop;  // to end soon: leave what is under way as the journal has it
  // The box may be gone soon: whatever can leave does so now, and waits for no rhythm and no hour.
  bool leaving = false;
};

// That a receiver could not be reached, say, though its job did all it could.
struct Trouble {
  std::string what;          // without secrets; "": no trouble
  std::int64_t next_ms = 0;  // when it is tried again; 0: when there is something to do
};

class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;  // "channel night", "upload trainer/hub"

  // Does what is due. When to be called again at the latest, in wall ms; a commit of the daemon
  // calls sooner. An error is logged, stands in the journal (without secrets, then), and the call
  // is repeated later: after a minute, then longer, up to half an hour.
  virtual Result<std::int64_t> work(const World& world) = 0;

  // Whether people have asked for something since the last call, which then comes sooner after an
  // error. On the same thread, every few seconds.
  virtual bool is_asked_for(Journal& journal) {
    (void)journal;
    return false;
  }

  // After a call without an error: what stands in the journal as if it were one, while the job is
  // called when it wants to be.
  [[nodiscard]] virtual Trouble trouble() const { return {}; }

  // Whether something has not left yet, as far as the last call knows, also one with an error.
  [[nodiscard]] virtual bool owes() const { return false; }
};

}  // namespace trainward::courier
