// What the operator allows and expects of one program: the numbers the core decides by.
// Durations are milliseconds.
#pragma once

#include <boost/describe.hpp>
#include <csignal>
#include <cstdint>
#include <vector>

#include "common/base/step.hpp"

namespace trainward::core {

enum class Autorestart { always, unexpected, never };

// A phase that shows no progress for this long is a hang.
struct Deadlines {
  std::int64_t start_ms = 60'000;  // launch until the worker's first message
  std::int64_t load_ms = 600'000;
  std::int64_t compile_ms = 7'200'000;   // 19 to 80 minutes are normal on an N300
  std::int64_t train_floor_ms = 60'000;  // learned from the run's own steps, never below this
  std::int64_t save_ms = 900'000;
  std::int64_t evaluate_ms = 1'800'000;
  std::int64_t stop_ms = 60'000;    // SIGTERM until SIGKILL
  std::int64_t reset_ms = 300'000;  // the operator's reset command
  // Of a program of which nothing is to be seen: no processor time and nothing written for this
  // long. 0: nobody watches it.
  std::int64_t silence_ms = 1'800'000;
  friend bool operator==(const Deadlines&, const Deadlines&) = default;
};
BOOST_DESCRIBE_STRUCT(Deadlines, (),
                      (start_ms, load_ms, compile_ms, train_floor_ms, save_ms, evaluate_ms, stop_ms,
                       reset_ms, silence_ms))

// Both survive restarts of the daemon and of the machine. An attempt that verified a new step is
// charged to neither: a run that advances is never given up.
struct Budgets {
  int attempts = 1000;                                  // without a new verified step, in all
  int attempts_without_progress = 12;                   // the same, in a row
  std::int64_t time_without_progress_ms = 172'800'000;  // spent in such attempts, in a row
  friend bool operator==(const Budgets&, const Budgets&) = default;
};
BOOST_DESCRIBE_STRUCT(Budgets, (), (attempts, attempts_without_progress, time_without_progress_ms))

// An attempt of a program whose steps nobody can see, or which is not told where to go on, is
// charged to neither when it lived this long.
inline constexpr std::int64_t progress_unseen_ms = 3'600'000;

// Between attempts that made no progress; doubles, with jitter. None after progress.
struct Backoff {
  std::int64_t first_ms = 1'000;
  std::int64_t max_ms = 300'000;
  friend bool operator==(const Backoff&, const Backoff&) = default;
};
BOOST_DESCRIBE_STRUCT(Backoff, (), (first_ms, max_ms))

// What a worker can do to need less memory. It is told in TRAINWARD_PLAN; a worker that understands
// none of it is never asked.
struct Shrinking {
  std::int64_t batch = 0;      // as configured; 0: unknown, so that it cannot be split
  std::int64_t block = 0;      // as configured; 0: unknown, so that it cannot be halved
  std::int64_t min_block = 0;  // never below
  bool recompute = false;      // can recompute activations
  bool accumulate = false;     // can split a batch and add up the gradients
  // That share each batch, as its mesh says. Not described: the mesh is told elsewhere already.
  std::int64_t devices = 1;
  friend bool operator==(const Shrinking&, const Shrinking&) = default;
};
BOOST_DESCRIBE_STRUCT(Shrinking, (), (batch, block, min_block, recompute, accumulate))

// How often checkpoints are written. The worker is told a shorter interval when attempts end often.
struct Cadence {
  bool adaptive = true;
  std::int64_t max_steps = 0;  // as configured; 0: unknown, the worker is told nothing
  friend bool operator==(const Cadence&, const Cadence&) = default;
};

// What is done about a loss that is not a number, or that jumps and stays.
struct Rollback {
  bool loss_spike = true;
  int tries = 3;  // without a step beyond the trouble
  friend bool operator==(const Rollback&, const Rollback&) = default;
};
BOOST_DESCRIBE_STRUCT(Rollback, (), (loss_spike, tries))

// A board that fails this often is not used for a while: `for_ms`, doubled each time.
struct Quarantine {
  int faults = 3;
  std::int64_t within_ms = 86'400'000;
  std::int64_t for_ms = 21'600'000;
  std::int64_t max_ms = 604'800'000;
  friend bool operator==(const Quarantine&, const Quarantine&) = default;
};
BOOST_DESCRIBE_STRUCT(Quarantine, (), (faults, within_ms, for_ms, max_ms))

using ExitCodes = std::vector<int>;

struct Policy {
  Autorestart autorestart = Autorestart::unexpected;
  Step target_step;                      // the run's last; 0: unknown
  bool needs_board = false;              // probe first, and run only on a board found usable
  bool can_reset = false;                // the operator has configured a reset command
  std::int64_t grow_after_ms = 600'000;  // on a smaller mesh, until the full one is looked for
  bool watch_cpu = false;  // CPU time counts as progress of training: nothing else is to be seen
  bool speaks = true;      // says something within deadlines.start, or it hangs
  bool foreign = false;    // only looked at: what it says may come late and in bursts
  bool told_to_resume = true;     // otherwise the program itself finds where to go on, if it does
  bool keeps_checkpoints = true;  // otherwise steps, or ten minutes of life, are progress
  bool saves_when_asked = true;   // asked to end, it writes a checkpoint before it exits
  int stop_signal = SIGTERM;      // asks it to end
  ExitCodes done_codes{0};        // with which it says that its work is finished
  Deadlines deadlines;
  Budgets budgets;
  Backoff backoff;
  Shrinking shrinking;
  Cadence cadence;
  Rollback rollback;
  Quarantine quarantine;
};

// Which checkpoint it goes back to is its own affair.
inline bool finds_its_own_checkpoint(const Policy& policy) {
  return !policy.told_to_resume || !policy.keeps_checkpoints;
}

}  // namespace trainward::core
