// Why attempts end, and why time is lost: every cause there is, with all that follows from it.
//
// This table is the only list. A class that a crash rule may name is a row here with `in_rules` and
// a file of rules (supervisor/evidence/rules/builtin); what the core does about it, what
// trainwardctl says of it and what trainwardd exits with are read from here, and a test compares
// the tables in docs/.
//
// Names are for the edges (journal, database, JSON) and never change their meaning. A name that is
// not in the table comes from another release: it counts as `unknown`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/protocol/protocol.hpp"
#include "supervisor/decide/core/remedy.hpp"

namespace trainward::core {

enum class Cause : std::uint8_t {
  none,
  // ---- no fault
  done,
  stopped,
  try_again,
  planned_restart,
  memory_leak,
  larger_mesh,
  // ---- what crash rules may name, a root before what follows from it
  disk,
  firmware,
  device_busy,
  ethernet,
  device_lost,
  corruption,
  hang,
  cache_corrupt,
  device_oom,
  host_oom,
  config,
  network,
  data,
  nan,
  unknown,
  // ---- what only the supervisor knows
  crash,
  killed,
  loss_spike,
  resume_contract,
  do_not_requeue,
  start_failed,
  lost,
  unkillable,
  // ---- between attempts
  no_board,
  machine_restart,
  supervisor_down,
};

// What comes after an attempt that ended so.
enum class Then : std::uint8_t {
  climb,    // a fault: the next rung of its ladder
  give_up,  // a fault that another attempt meets again
  at_once,  // no fault: the next attempt, with neither a wait nor a remedy
  rest,     // no fault, and no next attempt
};

// Climbed one rung an attempt that made no progress. One that ends with `stop` does so only when it
// is sure that nothing changes; else, and where it does not, its end is retried until the budgets
// are spent.
struct Ladder {
  std::array<Remedy, 10> rungs{};
  std::size_t size = 0;

  constexpr Ladder(std::initializer_list<Remedy> list) : size(list.size()) {
    std::ranges::copy(list, rungs.begin());
  }
  [[nodiscard]] constexpr const Remedy* begin() const { return rungs.data(); }
  [[nodiscard]] constexpr const Remedy* end() const { return rungs.data() + size; }
  [[nodiscard]] constexpr Remedy back() const { return rungs.at(size - 1); }
  friend constexpr bool operator==(const Ladder&, const Ladder&) = default;
};

namespace ladders {
using enum Remedy;
inline constexpr Ladder usual{
    retry, retry, reset_board, purge_caches, older_checkpoint, quarantine_board, stop};
// What a wait may cure is waited for, as long as the budgets last.
inline constexpr Ladder wait{retry};
inline constexpr Ladder retry_once{retry, stop};
inline constexpr Ladder board{reset_board, reset_board, quarantine_board, retry, stop};
inline constexpr Ladder busy{retry, retry, reset_board, quarantine_board, retry, stop};
inline constexpr Ladder hang{retry, reset_board, purge_caches, quarantine_board, stop};
inline constexpr Ladder caches{purge_caches, purge_caches, stop};
inline constexpr Ladder loss{older_checkpoint, older_checkpoint, older_checkpoint, stop};
inline constexpr Ladder data{retry, older_checkpoint, stop};
inline constexpr Ladder host_memory{retry, shrink_plan, shrink_plan, shrink_plan, stop};
inline constexpr Ladder device_memory{
    retry,       shrink_plan, shrink_plan, shrink_plan,      shrink_plan,
    shrink_plan, shrink_plan, reset_board, quarantine_board, stop};
}  // namespace ladders

struct CauseFacts {
  Cause cause = Cause::none;
  std::string_view name;
  std::string_view words;        // what it means
  std::string_view advice = {};  // what a person can do to prevent it, beyond what is done
  Then then = Then::climb;
  Ladder ladder = ladders::usual;
  bool in_rules = false;    // a crash rule may name it
  bool of_board = false;    // speaks against the board: charged to its record
  bool of_process = false;  // cured by a fresh process, so it may come like clockwork
  // What is in memory is not gone on from: it may be wrong itself, or the memory is what is
  // missing.
  bool spoils_state = false;
  bool hopeless = false;  // the end of the ladder proves that nothing changes
  // Of `trainwardd --once` when the program is given up; try_again: another host may help.
  int exit_status = exit_code::try_again;
};

inline constexpr std::array<CauseFacts, 33> causes{{
    {.cause = Cause::none, .name = "", .words = "nothing is known yet"},
    {.cause = Cause::done, .name = "done", .words = "it finished its work", .then = Then::rest},
    {.cause = Cause::stopped, .name = "stopped", .words = "it was asked to", .then = Then::rest},
    {.cause = Cause::try_again,
     .name = "try_again",
     .words = "it saved and asked to be started again",
     .then = Then::at_once},
    {.cause = Cause::planned_restart,
     .name = "planned_restart",
     .words = "it was restarted just before a fault that comes like clockwork",
     .then = Then::at_once},
    {.cause = Cause::memory_leak,
     .name = "memory_leak",
     .words = "its memory grew steadily, and it was restarted before the host's was used up",
     .advice = "find what the program keeps in memory and never gives back",
     .then = Then::at_once},
    {.cause = Cause::larger_mesh,
     .name = "larger_mesh",
     .words = "the boards of its full mesh were there again, so it was moved back to them",
     .then = Then::at_once},
    {.cause = Cause::disk,
     .name = "disk",
     .words = "a disk is full, damaged or gone",
     .advice = "free space on the disk that holds the checkpoints",
     .ladder = ladders::wait,
     .in_rules = true},
    {.cause = Cause::firmware,
     .name = "firmware",
     .words = "the firmware or its driver is old, wrong or did not start",
     .then = Then::give_up,
     .in_rules = true,
     .of_board = true},
    {.cause = Cause::device_busy,
     .name = "device_busy",
     .words = "another process holds the device",
     .ladder = ladders::busy,
     .in_rules = true,
     .of_board = true},
    {.cause = Cause::ethernet,
     .name = "ethernet",
     .words = "a link between the chips does not work",
     .ladder = ladders::board,
     .in_rules = true,
     .of_board = true},
    {.cause = Cause::device_lost,
     .name = "device_lost",
     .words = "the device is gone, broken, or does not answer",
     .ladder = ladders::board,
     .in_rules = true,
     .of_board = true},
    {.cause = Cause::corruption,
     .name = "corruption",
     .words = "a device computed or kept wrong values: copies of the parameters differ",
     .advice = "take the named board out if it is named again",
     .ladder = ladders::busy,
     .in_rules = true,
     .spoils_state = true},
    {.cause = Cause::hang,
     .name = "hang",
     .words = "it made no progress, so it was ended",
     .ladder = ladders::hang,
     .in_rules = true,
     .of_board = true,
     .of_process = true},
    {.cause = Cause::cache_corrupt,
     .name = "cache_corrupt",
     .words = "a cache of compiled programs is damaged",
     .ladder = ladders::caches,
     .in_rules = true,
     .hopeless = true},
    {.cause = Cause::device_oom,
     .name = "device_oom",
     .words = "the device's memory is full",
     .advice = "use a smaller batch or block",
     .ladder = ladders::device_memory,
     .in_rules = true,
     .of_process = true},
    {.cause = Cause::host_oom,
     .name = "host_oom",
     .words = "the host's memory is full",
     .advice = "give the machine more memory, or use smaller buffers",
     .ladder = ladders::host_memory,
     .in_rules = true,
     .of_process = true,
     .spoils_state = true},
    {.cause = Cause::config,
     .name = "config",
     .words = "the program or its set-up is wrong; only a change helps",
     .advice = "correct what its last lines name; trainwardctl config check FILE shows what is "
               "wrong with the configuration",
     .then = Then::give_up,
     .in_rules = true,
     .exit_status = exit_code::configuration},
    {.cause = Cause::network,
     .name = "network",
     .words = "the network or a service behind it failed",
     .ladder = ladders::wait,
     .in_rules = true},
    {.cause = Cause::data,
     .name = "data",
     .words = "data or a checkpoint is damaged or missing",
     .ladder = ladders::data,
     .in_rules = true,
     .exit_status = exit_code::do_not_requeue},
    {.cause = Cause::nan,
     .name = "nan",
     .words = "the loss became NaN or infinite",
     .advice = "try a lower learning rate or stronger gradient clipping",
     .ladder = ladders::loss,
     .in_rules = true,
     .spoils_state = true,
     .hopeless = true,
     .exit_status = exit_code::do_not_requeue},
    {.cause = Cause::unknown,
     .name = "unknown",
     .words = "it failed, and the log does not say why",
     .in_rules = true,
     .of_process = true},
    {.cause = Cause::crash,
     .name = "crash",
     .words = "the program itself crashed",
     .advice = "look for the fault in the program or its libraries",
     .of_process = true},
    {.cause = Cause::killed,
     .name = "killed",
     .words = "something killed it at once",
     .advice = "look at the kernel's log: most often it was the kernel, for memory",
     .ladder = ladders::wait,
     .of_process = true},
    {.cause = Cause::loss_spike,
     .name = "loss_spike",
     .words = "the loss jumped far above what it was, and stayed there",
     .advice = "try a lower learning rate or stronger gradient clipping",
     .ladder = ladders::loss,
     .spoils_state = true,
     .hopeless = true,
     .exit_status = exit_code::do_not_requeue},
    {.cause = Cause::resume_contract,
     .name = "resume_contract",
     .words = "it began before the checkpoint that it was told to resume from",
     .advice = "make the program load the checkpoint it is given (TRAINWARD_RESUME_FROM)",
     .ladder = ladders::retry_once,
     .spoils_state = true,
     .hopeless = true,
     .exit_status = exit_code::do_not_requeue},
    {.cause = Cause::do_not_requeue,
     .name = "do_not_requeue",
     .words = "it asked not to be started again",
     .then = Then::give_up,
     .exit_status = exit_code::do_not_requeue},
    {.cause = Cause::start_failed,
     .name = "start_failed",
     .words = "it could not be started",
     .ladder = ladders::wait},
    {.cause = Cause::lost,
     .name = "lost",
     .words = "its shim is gone, and with it how it ended",
     .ladder = ladders::wait},
    {.cause = Cause::unkillable,
     .name = "unkillable",
     .words = "the kernel did not let it die",
     .advice = "a driver hangs: look at the kernel's log; it may need a restart of the machine"},
    {.cause = Cause::no_board,
     .name = "no_board",
     .words = "there was no board to run on",
     .ladder = ladders::wait},
    {.cause = Cause::machine_restart,
     .name = "machine_restart",
     .words = "the machine was off",
     .ladder = ladders::wait},
    {.cause = Cause::supervisor_down,
     .name = "supervisor_down",
     .words = "no daemon lived while nothing ran",
     .ladder = ladders::wait},
}};

constexpr const CauseFacts& facts(Cause cause) {
  return causes.at(static_cast<std::size_t>(cause));
}

static_assert(std::ranges::all_of(causes,
                                  [](const CauseFacts& row) { return &facts(row.cause) == &row; }));

constexpr std::string_view to_string(Cause cause) { return facts(cause).name; }

// Returns false for a name that is not in the table, which counts as unknown.
constexpr bool from_string(std::string_view name, Cause& cause) {
  const auto* const row = std::ranges::find(causes, name, &CauseFacts::name);
  cause = row == causes.end() ? Cause::unknown : row->cause;
  return row != causes.end();
}
constexpr Cause cause_from(std::string_view name) {
  Cause cause = Cause::unknown;
  from_string(name, cause);
  return cause;
}

constexpr bool is_fault(Cause cause) {
  return facts(cause).then == Then::climb || facts(cause).then == Then::give_up;
}
constexpr bool may_retry(Cause cause) {
  return facts(cause).then == Then::climb || facts(cause).then == Then::at_once;
}

// What is done about it, in one line: "retry, again, reset the board, purge caches, …".
std::string ladder_text(Cause cause);

}  // namespace trainward::core
