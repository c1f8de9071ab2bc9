// One simulated fortnight, complete: how the machine and the worker are, and which faults come
// when.
//
// Everything a run depends on is here, so that it can be printed, shrunk and replayed. The text
// form is one `name value` a line, then one `at TIME FAULT AMOUNT PHASE` for each fault
// (trace.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainward::sim {

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60 * second_ms;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;

struct Setup {
  std::int64_t seed = 1;
  std::int64_t horizon_ms = 14 * day_ms;
  std::int64_t quiet_ms = 14 * day_ms;  // from then on no fault comes; what is broken is mended

  // ---- the worker ----
  std::int64_t start_ms = 5 * second_ms;  // until its first message
  std::int64_t load_ms = minute_ms;
  std::int64_t compile_cold_ms = 30 * minute_ms;
  std::int64_t compile_warm_ms = minute_ms;  // with the programs of an earlier attempt
  std::int64_t step_ms = 2 * minute_ms;
  std::int64_t save_ms = 20 * second_ms;
  std::int64_t save_every_ms = 30 * minute_ms;  // as it is configured
  std::int64_t target_steps = 1'000'000;        // exits with 0 there
  std::int64_t oom_least = 0;                   // steps until the device's memory is full
  std::int64_t oom_most = 0;
  std::int64_t plan_helps = 1;     // a smaller plan fills the memory more slowly
  std::int64_t host_leak_mib = 0;  // a step
  std::int64_t host_mib = 65'536;
  std::int64_t speaks = 1;  // otherwise only its checkpoint files are seen
  std::int64_t obeys_plan = 1;
  std::int64_t saves_when_asked = 1;
  std::int64_t block = 64;
  std::int64_t batch = 1;

  // ---- the machine ----
  std::int64_t boards = 2;
  std::int64_t dead_boards = 0;   // of them, broken for good and seen to be
  std::int64_t lying_boards = 0;  // of the rest, broken for good and found healthy by the probe
  std::int64_t needs_board = 1;
  std::int64_t can_reset = 1;
  std::int64_t mesh = 0;  // it is to run on all boards, and can do with fewer

  // ---- people ----
  std::int64_t look_every_ms = day_ms;  // somebody looks, and starts again what gave up or hangs
};

template <typename S, typename F>
void fields(S& s, F&& f) {
  f("seed", s.seed);
  f("horizon_ms", s.horizon_ms);
  f("quiet_ms", s.quiet_ms);
  f("start_ms", s.start_ms);
  f("load_ms", s.load_ms);
  f("compile_cold_ms", s.compile_cold_ms);
  f("compile_warm_ms", s.compile_warm_ms);
  f("step_ms", s.step_ms);
  f("save_ms", s.save_ms);
  f("save_every_ms", s.save_every_ms);
  f("target_steps", s.target_steps);
  f("oom_least", s.oom_least);
  f("oom_most", s.oom_most);
  f("plan_helps", s.plan_helps);
  f("host_leak_mib", s.host_leak_mib);
  f("host_mib", s.host_mib);
  f("speaks", s.speaks);
  f("obeys_plan", s.obeys_plan);
  f("saves_when_asked", s.saves_when_asked);
  f("block", s.block);
  f("batch", s.batch);
  f("boards", s.boards);
  f("dead_boards", s.dead_boards);
  f("lying_boards", s.lying_boards);
  f("needs_board", s.needs_board);
  f("mesh", s.mesh);
  f("can_reset", s.can_reset);
  f("look_every_ms", s.look_every_ms);
}

enum class Fault {
  // the worker
  crash,          // SIGSEGV
  error,          // exit code 1; the log names the cause of number AMOUNT (core/cause.hpp), or none
  device_oom,     // exit code 1, with a line in the log that says so
  host_oom,       // killed by the kernel
  killed,         // SIGKILL out of nowhere
  hang,           // silent, idle
  busy_hang,      // silent, burning one CPU
  ignores_term,   // works on when it is asked to stop
  unkillable,     // hangs in the kernel for AMOUNT ms, whatever is sent
  slow_compile,   // the next compilation takes AMOUNT ms, with all the signs of work
  bad_data,       // the next AMOUNT steps give a loss that is not a number
  spike,          // the next AMOUNT steps throw the loss far up, where it stays
  resume_breach,  // the next worker starts from step 0, whatever it was told
  ask_again,      // exit code 75
  config_error,   // exit code 78
  shim_killed,    // the worker dies with it, and no exit is recorded
  launch_fails,   // the next launch
  // the machine
  link_lost,        // board AMOUNT: its Ethernet is down until it is reset
  board_dead,       // board AMOUNT: down until the scenario is quiet
  probe_hangs,      // the next look at the hardware
  reset_fails,      // the next reset
  corrupt_newest,   // a bit of the newest checkpoint flips
  select_fails,     // the checkpoint folder cannot be read the next time
  lease_held,       // by something else, the next AMOUNT times that an attempt is to begin
  cache_corrupt,    // compiled programs
  disk_full,        // for AMOUNT ms: saves fail, and so do commits
  database_busy,    // for AMOUNT ms: commits fail
  daemon_killed,    // at its next dealing with the world, or AMOUNT dealings later; -1: at once
  machine_restart,  // down for AMOUNT ms
  wall_jump,        // by AMOUNT ms
  // people
  stop,
  start,
  restart,
  shutdown,  // of the daemon, in good order; it comes back AMOUNT ms after it is gone
};
constexpr int fault_kinds = static_cast<int>(Fault::shutdown) + 1;

std::string_view to_string(Fault fault);

// What the worker has to be doing when its fault strikes.
enum class Moment { any, start, load, compile, train, save, stop };
std::string_view to_string(Moment moment);

struct Injection {
  std::int64_t at_ms = 0;
  Fault fault = Fault::crash;
  std::int64_t amount = 0;
  Moment moment = Moment::any;
};

struct Scenario {
  std::string name;
  Setup setup;
  std::vector<Injection> injections;  // in the order of time
};

}  // namespace trainward::sim
