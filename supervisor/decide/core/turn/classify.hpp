// Why an attempt ended: evidence in falling weight, and the verdict that follows from it.
//
//   100  what we did ourselves (we killed it, and why)
//    95  somebody else asked it to end, and it did
//    92  it said itself that it was asked to end, before its last step
//    90  an exit code with a meaning of its own (0, 75, 78, 93)
//    85  the kernel killed something of the worker's for want of memory (its cgroup counts)
//    80  what the machine said about this very worker (kernel log); the supervisor lost it
//    60  a rule that matched the worker's log, a root before its cascade (51 to 60 a cause, 45 a
//        symptom, 35 a cascade; supervisor/evidence/rules/conclusion.hpp)
//    40  the signal that ended it; SIGABRT and SIGTERM, which are effects, 25
//    30  what the machine said in general (memory pressure)
//    25  an exit code by which a shell reports a signal (128 + n)
//    20  an exit code without a meaning
//    10  the phase it was in
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/protocol.hpp"
#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

struct Verdict {
  Cause cause = Cause::unknown;
  std::string sentence;            // for people, without a full stop
  std::vector<Evidence> evidence;  // heaviest first
};

// Where the run stands: the attempt's newest step, or what it was told to go on from; of one that
// did none and finds its own place, the last that any did.
Step standing_at(const State& state);

// Whether what the machine said may still be why the attempt ends: for ten minutes, and longer only
// while there was no progress since.
bool still_counts(const State& state, const MachineFact& fact, MonoTime now);

// What the way a process ended says by itself. Everybody who judges an end asks here.
Evidence from_exit_code(int code);
Evidence from_signal(int number);

// Where the attempt is: " at step 41", " before its first step (41 was reached before)"; "" for one
// of which no step is known.
std::string at_step(const State& state);

// Where evidence of a rule comes from: "log rule data-missing".
std::string log_rule(std::string_view rule);

// "SIGKILL", "signal 40"
std::string signal_name(int number);

// `done`: the exit codes with which the program says that its work is finished.
Verdict classify(const State& state, const WorkerExited& exit,
                 const ExitCodes& done = {exit_code::done});
Verdict classify(const State& state, const AttemptLost& lost);
Verdict classify(const State& state, const LaunchFailed& failed);

}  // namespace trainward::core
