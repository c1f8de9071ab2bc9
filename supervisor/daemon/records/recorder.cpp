#include "supervisor/daemon/records/recorder.hpp"

#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "common/base/cases.hpp"
#include "common/os/clock.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/decide/core/need.hpp"

namespace trainward::daemon {
namespace {

// Old steps are thinned out as new ones come, faster than those, and little at a time.
constexpr int steps_between_thinnings = 64;
constexpr int buckets_thinned_at_once = 8;

std::string make_nonce() {
  std::array<unsigned char, 16> bytes{};
  // 16 bytes never block or fall short once the kernel's pool is ready.
  (void)!::getrandom(bytes.data(), bytes.size(), 0);
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

Recorder::Recorder(store::Store& store, const Paths& paths, const config::Program& program)
    : store_(store),
      paths_(paths),
      program_(program.name),
      digest_(program.digest),
      target_step_(config::policy_of(program).target_step.number),
      steps_keep_(program.steps_keep),
      steps_until_thinning_(steps_between_thinnings),
      now_{{}, boot_id()},
      committed_(now_) {}

Status Recorder::recover(std::int64_t attempt, std::string known_boot) {
  auto row = store_.attempt(program_, attempt);
  if (!row) return propagate(row);
  if (*row) now_.attempt = std::move(**row);
  now_.boot = std::move(known_boot);
  committed_ = now_;
  return {};
}

void Recorder::settle(bool committed) {
  if (committed) {
    told_ = std::exchange(now_.samples, {});
    committed_ = now_;
  } else {
    now_ = committed_;
  }
}

void Recorder::told(std::string nonce, std::string plan) {
  now_.attempt.nonce = std::move(nonce);
  now_.attempt.plan = std::move(plan);
}

Status Recorder::record(const session::Happening& what, const core::State& state,
                        std::span<const core::Action> actions) {
  // Committed with the event that tells of it, or a death in between would hide it.
  if (std::holds_alternative<core::DaemonStarted>(what.event) && !boot_id().empty()) {
    now_.boot = boot_id();
  }
  for (const core::Action& action : actions) {
    if (auto ok = record(action, state, what.at); !ok) return ok;
  }
  if (what.compiled) {
    if (auto ok = add(*what.compiled, state.attempt, what.at); !ok) return ok;
  }
  if (what.processes) {
    if (auto ok = add(*what.processes, state.attempt); !ok) return ok;
  }
  return what.sample ? add(*what.sample, state.attempt, what.at) : Status();
}

// Without a default: a record that is not written does not compile.
Status Recorder::record(const core::Action& action, const core::State& state, Time at) {
  return std::visit(
      Cases{
          [&](const core::RecordEvent& e) -> Status {
            return store_.add_event({0, at.wall.ms, program_, e.attempt, e.kind, e.text, e.by});
          },
          [&](const core::RecordStep& e) { return add(e, state.attempt, at); },
          [&](const core::RecordDevices& e) { return add(e.window, state.attempt, at); },
          [&](const core::RecordEvaluation& e) -> Status {
            return store_.add_evaluation(
                program_, {e.step.number, state.attempt, e.loss, at.wall.ms, e.perplexity});
          },
          [&](const core::RecordSpan& e) -> Status {
            return store_.add_span(
                program_, {e.attempt, std::string(to_string(e.phase)),
                           std::string(to_string(e.cause)), e.begin_wall_ms.ms, e.duration_ms});
          },
          [&](const core::RecordAttemptBegun& e) { return begin(e, state, at); },
          [&](const core::RecordWorkerStarted& e) -> Status {
            now_.attempt.pid = e.pid;
            now_.attempt.started_ms = at.wall.ms;
            return store_.put_attempt(now_.attempt);
          },
          [&](const core::RecordResumed& e) { return resumed(e); },
          [&](const core::RecordAttemptEnded& e) { return end(e, state, at); },
          [&](const core::RecordCheckpoint& e) { return keep(e, at); },
          [&](const core::RecordBoard& e) -> Status {
            return store_.put_board_record(e.serial, json::serialize(core::to_json(e.record)),
                                           at.wall.ms);
          },
          [&](const core::Launch& e) -> Status {
            now_.attempt.plan = json::serialize(core::to_json(e.plan));
            return store_.put_attempt(now_.attempt);
          },
          [](const core::Probe&) -> Status { return {}; },
          [](const core::Repair&) -> Status { return {}; },
          [](const core::SelectCheckpoint&) -> Status { return {}; },
          [](const core::SendSignal&) -> Status { return {}; },
          [](const core::CheckActivity&) -> Status { return {}; },
          [](const core::VerifyCheckpoint&) -> Status { return {}; },
          [](const core::PruneCheckpoints&) -> Status { return {}; },
      },
      action);
}

const std::string& Recorder::next_nonce() {
  if (next_nonce_.empty()) next_nonce_ = make_nonce();
  return next_nonce_;
}

Status Recorder::begin(const core::RecordAttemptBegun& begun, const core::State& state, Time at) {
  // A checkpoint that nobody had verified when the attempt before ended has been since.
  store::AttemptRow& before = now_.attempt;
  const std::int64_t kept = std::min(state.current.resume_step.number, before.last_step);
  if (before.number != 0 && kept > before.kept_step) {
    before.kept_step = kept;
    if (auto ok = store_.put_attempt(before); !ok) return ok;
  }
  store::AttemptRow row;
  row.program = program_;
  row.number = begun.attempt;
  row.nonce = next_nonce();
  forget_next_nonce();  // each has one of its own
  row.board = state.boards.board;
  row.folder = paths_.attempt(program_, begun.attempt).string();
  row.intended_ms = at.wall.ms;
  row.resume_from = name_of(state.current.resume_from);
  row.resume_step = state.current.resume_step.number;
  if (begun.told_to_resume && !row.resume_from.empty()) row.source = "disk";
  row.last_step = state.current.resume_step.number;
  row.kept_step = state.history.kept_step.number;
  row.boards = fmt::format("{}", fmt::join(core::serials_of(state.boards), ","));
  row.mesh = core::mesh_words(state.boards);
  row.told_to_resume = begun.told_to_resume;
  now_.attempt = std::move(row);
  return store_.put_attempt(now_.attempt);
}

// What the attempt before left was kept, though in no checkpoint.
Status Recorder::resumed(const core::RecordResumed& resumed) {
  auto before = store_.attempt(program_, now_.attempt.number - 1);
  if (!before) return propagate(before);
  if (*before) {
    store::AttemptRow& row = **before;
    row.kept_step = std::max(row.kept_step, std::min(resumed.step.number, row.last_step));
    if (auto ok = store_.put_attempt(row); !ok) return ok;
  }
  now_.attempt.resume_step = resumed.step.number;
  now_.attempt.last_step = resumed.step.number;
  now_.attempt.source = "memory";
  return store_.put_attempt(now_.attempt);
}

Status Recorder::end(const core::RecordAttemptEnded& ended, const core::State& state, Time at) {
  store::AttemptRow& row = now_.attempt;
  row.first_step = state.current.first_step.number;
  row.last_step = state.current.last_step.number;
  row.ended_ms = at.wall.ms;
  row.exit_code = ended.code;
  row.exit_signal = ended.signal;
  row.cause = to_string(ended.cause);
  row.verdict = ended.verdict;
  row.remedy = ended.remedy ? to_string(*ended.remedy) : "";
  if (auto ok = store_.put_attempt(row); !ok) return ok;
  for (const core::Evidence& line : ended.evidence) {
    auto ok = store_.add_evidence(
        program_, ended.attempt,
        {line.source, line.weight, std::string(to_string(line.cause)), line.text, line.location});
    if (!ok) return ok;
  }
  return {};
}

Status Recorder::add(const core::RecordStep& step, std::int64_t attempt, Time at) {
  auto ok = store_.add_step(program_,
                            {step.figures, step.step.number, attempt, at.wall.ms, step.replayed});
  if (!ok || steps_keep_ == 0 || --steps_until_thinning_ > 0) return ok;
  steps_until_thinning_ = steps_between_thinnings;
  return store_.thin_steps(program_, steps_keep_, buckets_thinned_at_once);
}

Status Recorder::add(const DeviceWindow& window, std::int64_t attempt, Time at) {
  const auto total = [&](std::optional<double> ms) {
    return ms.value_or(0) * static_cast<double>(window.steps);
  };
  std::vector<store::DeviceRow> rows;
  for (const ToldDevice& told : window.devices) {
    const DeviceFigures& figures = told.figures;
    rows.push_back({figures, attempt, std::ssize(rows), told.name, window.step, window.steps,
                    total(figures.compute_ms), total(figures.collective_ms),
                    total(figures.input_wait_ms), at.wall.ms});
  }
  return store_.add_devices(program_, rows);
}

Status Recorder::keep(const core::RecordCheckpoint& checkpoint, Time at) {
  const bool good = checkpoint.error.empty();
  auto ok = store_.put_checkpoint(
      program_, {checkpoint.path, checkpoint.step.number, checkpoint.attempt, checkpoint.bytes,
                 good ? "verified" : "corrupt", checkpoint.error, at.wall.ms});
  if (!ok || !good || checkpoint.attempt != now_.attempt.number) return ok;
  now_.attempt.kept_step = std::max(now_.attempt.kept_step, checkpoint.step.number);
  return store_.put_attempt(now_.attempt);
}

// With an event when an entry of the cache was thrown away.
Status Recorder::add(const session::CompiledProgram& compiled, std::int64_t attempt, Time at) {
  auto ok = store_.add_compiled(program_, {attempt, compiled.name, compiled.key, compiled.hit,
                                           compiled.ms, compiled.dropped, at.wall.ms});
  if (!ok || compiled.dropped.empty()) return ok;
  return store_.add_event(
      {0, at.wall.ms, program_, attempt, "cache",
       fmt::format("the cached program {} was dropped: {}", compiled.name, compiled.dropped)});
}

Status Recorder::add(const session::AttemptProcesses& of, std::int64_t attempt) {
  return store_.put_processes({program_, attempt, of.worker_pid, of.worker_start_ticks, of.shim_pid,
                               of.shim_start_ticks, of.boot_id, of.cgroup});
}

Status Recorder::add(const WorkerSample& said, std::int64_t attempt, Time at) {
  now_.samples.push_back(said);
  return store_.add_sample(program_, {said.step, attempt, said.prompt, said.answer, said.tokens,
                                      said.end, said.cut, at.wall.ms});
}

Status Recorder::save(const core::State& state, Time at,
                      std::optional<session::JournalPlace> read) {
  store::AttemptRow& row = now_.attempt;
  if (row.number == state.attempt && row.number > 0 && row.ended_ms == 0 &&
      (row.last_step != state.current.last_step.number ||
       row.first_step != state.current.first_step.number)) {
    row.first_step = state.current.first_step.number;
    row.last_step = state.current.last_step.number;
    if (auto ok = store_.put_attempt(row); !ok) return ok;
  }
  json::object stored = core::to_json(state);
  const std::int64_t target = core::target_of(state, Step{target_step_}).number;
  stored["boot_id"] = now_.boot;
  json::object plight = core::plight_of(state, at);
  for (auto& member : plight) stored[member.key()] = std::move(member.value());
  auto ok = store_.put_program({program_, std::string(core::display(state.stage)), state.reason,
                                digest_, json::serialize(stored), at.wall.ms, target});
  if (!ok || !read) return ok;
  return store_.set_journal_offset(program_, read->attempt, read->offset);
}

}  // namespace trainward::daemon
