// The rows of the run database as values. Their members are the columns, by name: a new column is a
// migration (schema/tables_N.sql), a member here, and the code that fills it.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"

namespace trainward::store {

// Times are wall-clock milliseconds since 1970 in *_ms columns.
struct ProgramRow {
  std::string name;
  std::string state;   // a name of core/shown.hpp: STOPPED, RUNNING, …
  std::string reason;  // one line for people: why it is in this state
  std::string config_digest;
  std::string core_state;  // JSON of core::State: what the next daemon goes on from
  std::int64_t changed_ms = 0;
  std::int64_t target_step = 0;  // where it is to end; 0: unknown
};
BOOST_DESCRIBE_STRUCT(ProgramRow, (),
                      (name, state, reason, config_digest, core_state, changed_ms, target_step))

struct AttemptRow {
  std::string program;
  std::int64_t number = 0;
  std::string nonce;
  std::string board;             // serial, or empty
  std::string folder;            // journal and logs
  std::int64_t intended_ms = 0;  // committed before the fork
  std::int64_t started_ms = 0;   // 0: not yet
  std::int64_t ended_ms = 0;     // 0: still running
  std::int64_t pid = 0;          // the worker's
  std::string resume_from;       // folder name of the checkpoint, or empty
  std::int64_t resume_step = 0;
  std::int64_t first_step = 0;  // first step it finished; 0: none
  std::int64_t last_step = 0;   // last step it finished
  std::int64_t kept_step = 0;   // newest step in a verified checkpoint when it ended
  std::optional<int> exit_code;
  std::optional<int> exit_signal;
  std::string cause;           // device_oom, hang, done, stopped, …; empty while it runs
  std::string verdict;         // one sentence
  std::string remedy;          // what was done about it: a name of core/remedy.hpp, or empty
  std::string plan;            // JSON, as the worker was told
  bool told_to_resume = true;  // otherwise its first step shows where it went on
  std::string boards;          // all serials, with commas between them
  std::string mesh;            // "2x4", "1x4 of 2x4", or empty
  std::string source;          // disk, memory; empty: from nothing, or not known
};
BOOST_DESCRIBE_STRUCT(AttemptRow, (),
                      (program, number, nonce, board, folder, intended_ms, started_ms, ended_ms,
                       pid, resume_from, resume_step, first_step, last_step, kept_step, exit_code,
                       exit_signal, cause, verdict, remedy, plan, told_to_resume, boards, mesh,
                       source))

// The processes of an attempt, as its shim named them; see common/os/processes/process_id.hpp.
struct ProcessesRow {
  std::string program;
  std::int64_t attempt = 0;
  std::int64_t worker_pid = 0;
  std::int64_t worker_start_ticks = 0;
  std::int64_t shim_pid = 0;
  std::int64_t shim_start_ticks = 0;
  std::string boot_id;
  std::string cgroup;  // folder of the worker's; empty: none
};
BOOST_DESCRIBE_STRUCT(ProcessesRow, (),
                      (program, attempt, worker_pid, worker_start_ticks, shim_pid, shim_start_ticks,
                       boot_id, cgroup))

struct EvidenceRow {
  std::string source;  // "supervisor", "exit status", "log rule", "phase"
  int weight = 0;      // larger decides first
  std::string cause;
  std::string text;      // the line or fact
  std::string location;  // "stderr.log:117", a rule's name; may be empty
};
BOOST_DESCRIBE_STRUCT(EvidenceRow, (), (source, weight, cause, text, location))

// What nobody told is null. A loss or norm that is not a number is stored as infinite.
struct StepRow : StepFigures {
  std::int64_t step = 0;
  std::int64_t attempt = 0;
  std::int64_t at_ms = 0;
  bool replayed = false;  // an earlier attempt had done this step already and lost it
};
BOOST_DESCRIBE_STRUCT(StepRow, (StepFigures), (step, attempt, at_ms, replayed))

// What a device or rank of a run does: its newest figures, and how its time went in the attempt.
struct DeviceRow : DeviceFigures {
  std::int64_t attempt = 0;
  std::int64_t device = 0;  // its place among them, from 0
  std::string name;
  std::int64_t step = 0;   // the newest that the figures are of
  std::int64_t steps = 0;  // of the attempt that the totals are of
  double total_compute_ms = 0;
  double total_collective_ms = 0;
  double total_input_wait_ms = 0;
  std::int64_t at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(DeviceRow, (DeviceFigures),
                      (attempt, device, name, step, steps, total_compute_ms, total_collective_ms,
                       total_input_wait_ms, at_ms))

struct EvaluationRow {
  std::int64_t step = 0;  // after which it was made
  std::int64_t attempt = 0;
  double loss = 0;  // mean over the held-out data
  std::int64_t at_ms = 0;
  std::optional<double> perplexity = {};  // where the worker says it, whose loss it is of
};
BOOST_DESCRIBE_STRUCT(EvaluationRow, (), (step, attempt, loss, at_ms, perplexity))

// What the model said to a prompt. The texts are the worker's, as it told them.
struct SampleRow {
  std::int64_t step = 0;  // after which it was asked
  std::int64_t attempt = 0;
  std::string prompt;
  std::string answer;
  std::optional<std::int64_t> tokens = {};  // of the answer
  std::string ended_by;                     // "end_of_text", "length", …; empty: not told
  bool cut = false;                         // a text was longer
  std::int64_t at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(SampleRow, (), (step, attempt, prompt, answer, tokens, ended_by, cut, at_ms))

struct CompiledRow {
  std::int64_t attempt = 0;
  std::string name;  // of the compiled program, such as "block_forward"
  std::string key;
  bool hit = false;     // the cache had it
  std::int64_t ms = 0;  // to compile it, or to load it
  std::string dropped;  // why an entry of the cache was thrown away first, or empty
  std::int64_t at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(CompiledRow, (), (attempt, name, key, hit, ms, dropped, at_ms))

// The id is given by the database.
struct EventRow {
  std::int64_t id = 0;
  std::int64_t at_ms = 0;
  std::string program;  // empty: the daemon itself
  std::int64_t attempt = 0;
  std::string kind;  // "state", "probe", "launch", "exit", "checkpoint", "kill", …
  std::string text;
  std::string by = {};  // who asked for it: "uid 1000", "token anna"; empty: nobody
};
BOOST_DESCRIBE_STRUCT(EventRow, (), (at_ms, program, attempt, kind, text, by))

struct SpanRow {             // one row of the phase ledger
  std::int64_t attempt = 0;  // 0: between attempts
  std::string phase;         // a name of core/phase.hpp
  std::string cause;  // why time went there ("device_oom" for a replay after one); may be empty
  std::int64_t begin_ms = 0;     // wall
  std::int64_t duration_ms = 0;  // monotonic
};
BOOST_DESCRIBE_STRUCT(SpanRow, (), (attempt, phase, cause, begin_ms, duration_ms))

struct CheckpointRow {
  std::string path;
  std::int64_t step = 0;
  std::int64_t attempt = 0;
  std::uint64_t bytes = 0;
  std::string state;  // verified | corrupt | pruned
  std::string reason;
  std::int64_t at_ms = 0;
};
BOOST_DESCRIBE_STRUCT(CheckpointRow, (), (path, step, attempt, bytes, state, reason, at_ms))

// What a board measured of itself while a program ran on it; what it does not publish is unset.
struct BoardSampleRow {
  std::string serial;
  std::int64_t at_ms = 0;
  std::string program;
  std::int64_t attempt = 0;
  std::optional<double> temperature_c, limit_c, power_w, voltage_v, current_a;
  std::optional<std::int64_t> clock_mhz, heartbeat;
  std::optional<std::int64_t> aer_correctable, aer_nonfatal, aer_fatal;  // as the kernel counts
};
BOOST_DESCRIBE_STRUCT(BoardSampleRow, (),
                      (serial, at_ms, program, attempt, temperature_c, limit_c, power_w, voltage_v,
                       current_a, clock_mhz, heartbeat, aer_correctable, aer_nonfatal, aer_fatal))

// What people are to be told; schema/tables_9.sql. id 0: none is given yet.
struct MessageRow {
  std::int64_t id = 0;
  std::int64_t at_ms = 0;          // when it was decided
  std::int64_t not_before_ms = 0;  // held until then
  std::string program;             // empty: the daemon itself
  std::int64_t episode = 0;        // 0: of none
  std::string tier;                // critical | warning | info
  std::string kind;
  std::string title;     // at most 60 characters
  std::string message;   // JSON: {"text", "fields", "lines", "resolves", "started_ms"}
  bool dropped = false;  // taken back before it was due
};
BOOST_DESCRIBE_STRUCT(MessageRow, (),
                      (id, at_ms, not_before_ms, program, episode, tier, kind, title, message,
                       dropped))

struct EpisodeRow {
  std::int64_t id = 0;
  std::string program;  // empty: the daemon itself
  std::string family;
  std::string cause;
  std::string tier;  // the highest that was told; empty: nobody was
  std::int64_t opened_ms = 0;
  std::int64_t closed_ms = 0;  // 0: it lasts
  std::string memory = "{}";   // JSON, private to its writer
};
BOOST_DESCRIBE_STRUCT(EpisodeRow, (),
                      (id, program, family, cause, tier, opened_ms, closed_ms, memory))

}  // namespace trainward::store
