// The simulated machine: all that exists outside the supervisor and survives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/decide/core/event.hpp"
#include "supervisor/decide/sim/parts/board.hpp"
#include "supervisor/decide/sim/parts/disk.hpp"
#include "supervisor/decide/sim/parts/queue.hpp"
#include "supervisor/decide/sim/parts/score.hpp"
#include "supervisor/decide/sim/parts/setup.hpp"
#include "supervisor/decide/sim/parts/sim_random.hpp"

namespace trainward::sim {

// What the shim of one attempt wrote, with the time of writing.
struct Record {
  core::Event event;
  Time at;
};
struct Journal {
  std::int64_t attempt = 0;
  std::vector<Record> records;
  bool shim_alive = false;
  bool worker_known = false;        // the record that says so was written
  std::vector<core::LogMatch> log;  // what the crash rules find in the worker's logs at its end
};

// Steps whose data breaks the loss, for ever.
struct BadData {
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool spike = false;
};

// How a supervisor uses the machine; the three policies differ in it.
struct Habits {
  bool verifies = true;  // looks into a checkpoint before it is used
  bool keeps_caches = true;
  bool picks_board = true;  // otherwise an attempt lands on any
};

struct Machine {
  explicit Machine(const Setup& s)
      : setup(s), random(static_cast<std::uint64_t>(s.seed)), boards(make_boards(s)) {}

  [[nodiscard]] Time now() const { return clock.now(); }
  void after(std::int64_t ms, Due due, std::int64_t id = 0) {
    queue.add(clock.true_ms + ms, due, id);
  }
  void write(core::Event event) {
    journal.records.push_back({std::move(event), now()});
    after(random.between(1, 8), Due::journal, journal.attempt);
  }

  const Setup& setup;
  Habits habits;
  Clock clock;
  Queue queue;
  Random random;
  std::vector<Board> boards;
  Caches caches;
  Disk disk;
  Journal journal;
  std::vector<BadData> bad_data;
  Score score;
  std::int64_t commits_refused_until_ms = 0;
  std::int64_t disk_full_until_ms = 0;
  // Armed faults of what is asked for next.
  bool probe_hangs = false;
  bool reset_fails = false;
  bool select_fails = false;
  bool launch_fails = false;
  int lease_held = 0;
};

}  // namespace trainward::sim
