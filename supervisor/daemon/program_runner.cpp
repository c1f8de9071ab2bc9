#include "supervisor/daemon/program_runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "checkpoint/checkpoint.hpp"
#include "common/journal.hpp"
#include "common/launch.hpp"
#include "common/text.hpp"
#include "supervisor/daemon/board_probe.hpp"
#include "supervisor/daemon/launcher.hpp"
#include "supervisor/daemon/lease.hpp"
#include "supervisor/daemon/log_evidence.hpp"
#include "supervisor/daemon/messages.hpp"

namespace trainward::daemon {
namespace {

// How long a database that refuses to commit is left alone before the next try.
constexpr std::int64_t commit_retry_ms = 1'000;

core::Policy policy_of(const config::Program& program) {
  core::Policy policy;
  policy.autorestart = program.autorestart;
  policy.needs_board = program.host.has_value();
  policy.deadlines = program.deadlines;
  policy.budgets = program.budgets;
  policy.backoff = program.backoff;
  return policy;
}

std::int64_t target_of(const config::Program& program) {
  auto training = get_object(program.worker, "training_config");
  return training ? int_or(**training, "steps", 0) : 0;
}

core::ProbeFinished as_event(const Result<hwprobe::Report>& report) {
  core::ProbeFinished event;
  if (!report) {
    event.error = report.error().message();
    return event;
  }
  for (const hwprobe::Board& board : report->boards) {
    event.boards.push_back({board.serial, std::string(hwprobe::to_string(board.verdict)),
                            hwprobe::usable(board.verdict),
                            board.evidence.empty() ? "" : board.evidence.front().what});
  }
  return event;
}

}  // namespace

ProgramRunner::ProgramRunner(Services& services, config::Program program,
                             std::function<void()> changed)
    : services_(services),
      program_(std::move(program)),
      policy_(policy_of(program_)),
      changed_(std::move(changed)),
      recorder_(services.store, services.paths, program_.name),
      deadline_(services.loop),
      retry_(services.loop),
      target_step_(target_of(program_)) {}

ProgramRunner::~ProgramRunner() {
  *alive_ = false;
  unfollow();
}

bool ProgramRunner::at_rest() const {
  return state_.stage == core::Stage::stopped || state_.stage == core::Stage::exited ||
         state_.stage == core::Stage::fatal;
}

// ---- events in, commits, effects out ----

void ProgramRunner::handle(core::Event event) {
  pending_.push_back({std::move(event), now()});
  drain();
}

void ProgramRunner::drain() {
  if (draining_) return;  // an effect that is carried out right now added an event
  draining_ = true;
  while (!pending_.empty()) {
    core::State next = state_;
    core::Actions actions;
    Status saved;
    // All that is waiting becomes one transaction: a burst of heartbeats costs one fsync.
    auto transaction = services_.store.begin();
    if (!transaction) saved = propagate(transaction);
    std::size_t taken = 0;
    Time at = pending_.front().at;
    while (saved && taken < pending_.size()) {
      at = pending_[taken].at;
      auto outcome = core::step(std::move(next), pending_[taken].event, policy_, at);
      next = std::move(outcome.state);
      saved = commit(outcome.actions, next, at);
      std::move(outcome.actions.begin(), outcome.actions.end(), std::back_inserter(actions));
      ++taken;
    }
    if (saved) saved = recorder_.save_state(next, program_.digest, target_step_, at);
    if (saved && core::has_worker(state_.stage)) {
      // An exit that is held back has not been counted: the next daemon must read it again.
      saved = services_.store.set_journal_offset(program_.name, state_.attempt,
                                                 exit_ ? exit_offset_ : journal_offset_);
    }
    if (saved) saved = transaction->commit();
    if (!saved) {
      spdlog::error("{}: the run database does not take what happened: {}; trying again in {}",
                    program_.name, saved.error().message(), human_duration(commit_retry_ms));
      retry_.after(commit_retry_ms, [this] { drain(); });
      break;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
    state_ = std::move(next);
    show(actions, at);
    for (const core::Action& action : actions) execute(action);
  }
  draining_ = false;
  arm();
  changed_();
}

Status ProgramRunner::commit(const core::Actions& actions, const core::State& state, Time at) {
  for (const core::Action& action : actions) {
    if (auto ok = recorder_.record(action, state, at); !ok) return ok;
  }
  return {};
}

void ProgramRunner::execute(const core::Action& action) {
  if (std::holds_alternative<core::Probe>(action)) do_probe();
  if (std::holds_alternative<core::SelectCheckpoint>(action)) do_select();
  if (const auto* order = std::get_if<core::Launch>(&action)) do_launch(*order);
  if (const auto* order = std::get_if<core::SendSignal>(&action)) do_signal(order->signal);
  if (const auto* order = std::get_if<core::VerifyCheckpoint>(&action)) do_verify(*order);
  if (std::holds_alternative<core::PruneCheckpoints>(action)) do_prune();
}

void ProgramRunner::arm() {
  const std::int64_t next = core::next_timer_ms(state_);
  if (next == 0) return deadline_.cancel();
  deadline_.after(next - now().mono_ms, [this] { handle(core::TimerFired{}); });
}

void ProgramRunner::show(const core::Actions& actions, Time at) {
  for (const core::Action& action : actions) {
    if (const auto* event = std::get_if<core::RecordEvent>(&action)) {
      spdlog::info("{}: {}: {}", program_.name, event->kind, event->text);
      if (event->kind != "checkpoint") {
        services_.console.event(program_.name, event->kind, event->text, at);
      }
    }
    if (const auto* step = std::get_if<core::RecordStep>(&action)) {
      services_.console.progress(
          {program_.name, std::string(core::display(state_.stage)), state_.attempt, step->step,
           target_step_, step->loss, step->tokens_per_second},
          at);
    }
  }
}

// ---- side effects ----

void ProgramRunner::do_probe() {
  probe_ = probe_boards(services_.loop, services_.paths, program_.host, services_.store,
                        [this](Result<hwprobe::Report> report) {
                          if (report) report_ = *report;
                          handle(as_event(report));
                        });
}

void ProgramRunner::do_select() {
  const auto root = services_.paths.checkpoints(program_.name);
  services_.background.run([this, alive = alive_, root]() -> std::function<void()> {
    auto selection = checkpoint::select(root);
    return [this, alive, selection = std::move(selection)] {
      if (!*alive) return;
      if (!selection) {
        handle(core::CheckpointSelected{"", 0, selection.error().message()});
        return;
      }
      for (const checkpoint::Rejected& bad : selection->rejected) {
        handle(core::CheckpointRejected{bad.original.string(), bad.step, bad.path.string(),
                                        bad.reason});
      }
      if (!selection->chosen) return handle(core::CheckpointSelected{});
      handle(
          core::CheckpointSelected{selection->chosen->path.string(), selection->chosen->step, ""});
    };
  });
}

void ProgramRunner::do_launch(const core::Launch& order) {
  LaunchOrder what{order.attempt, recorder_.attempt().nonce, nullptr, order.resume_from,
                   order.plan};
  if (!order.board.empty()) {
    for (const hwprobe::Board& board : report_->boards) {
      if (board.serial == order.board) what.board = &board;
    }
  }
  auto pid = launch(program_, what, services_.paths);
  if (pid) {
    auto shim = ShimProcess::child(services_.loop, *pid, [this] { on_shim_gone(); });
    if (shim) shim_ = std::move(*shim);
    if (shim) return follow(order.attempt);
    pid = tl::unexpected<Error>(shim.error());
  }
  handle(core::LaunchFailed{pid.error().message(), pid.error().kind != ErrorKind::usage});
}

void ProgramRunner::do_signal(core::Signal signal) {
  if (!shim_) {
    // A launch that was decided but never seen: if nobody holds the program's lease, nobody lives.
    if (take_lease(services_.paths.program_lease(program_.name))) {
      handle(core::AttemptLost{"no process of this attempt exists"});
    }
    return;
  }
  if (auto sent = shim_->send(signal); !sent) {
    spdlog::warn("{}: {}", program_.name, sent.error().message());
  }
}

void ProgramRunner::do_verify(const core::VerifyCheckpoint& order) {
  ++verifying_;
  services_.background.run([this, alive = alive_, order]() -> std::function<void()> {
    auto summary = checkpoint::verify(order.path);
    return [this, alive, order, summary = std::move(summary)] {
      if (!*alive) return;
      core::CheckpointVerified event{order.attempt, order.path, order.step, 0, ""};
      if (summary) {
        event.step = summary->step;
        event.bytes = summary->bytes;
      } else {
        event.error = summary.error().message();
      }
      --verifying_;
      handle(std::move(event));
      deliver_exit();
    };
  });
}

void ProgramRunner::do_prune() {
  std::vector<std::filesystem::path> held;
  if (!state_.resume_from.empty()) held.emplace_back(state_.resume_from);
  services_.background.run(
      [this, alive = alive_, held, keep = program_.checkpoints_keep,
       root = services_.paths.checkpoints(program_.name)]() -> std::function<void()> {
        auto removed = checkpoint::prune(root, keep, held);
        return [this, alive, removed = std::move(removed)] {
          if (!*alive) return;
          if (!removed) {
            spdlog::warn("{}: old checkpoints stay: {}", program_.name, removed.error().message());
            return;
          }
          for (const auto& path : *removed) {
            auto noted = services_.store.mark_checkpoint(program_.name, path.string(), "pruned");
            if (!noted) spdlog::warn("{}: {}", program_.name, noted.error().message());
          }
        };
      });
}

// ---- the attempt's journal ----

void ProgramRunner::follow(std::int64_t attempt) {
  folder_ = services_.paths.attempt(program_.name, attempt);
  exit_.reset();
  shim_gone_ = false;
  auto offset = services_.store.journal_offset(program_.name, attempt);
  journal_offset_ = offset.value_or(0);
  auto id = services_.watcher.add(folder_ / attempt_files::journal, [this] { read_journal_now(); });
  if (id) {
    journal_watch_ = *id;
  } else {
    // Still safe: everything is read when the shim ends. Only live progress is missing.
    spdlog::warn("{}: {}", program_.name, id.error().message());
  }
  read_journal_now();
}

void ProgramRunner::unfollow() {
  if (journal_watch_) services_.watcher.remove(*journal_watch_);
  journal_watch_.reset();
}

void ProgramRunner::read_journal_now() {
  for (bool more = true; more;) {
    auto batch = read_journal(folder_ / attempt_files::journal, journal_offset_);
    if (!batch) {
      spdlog::error("{}: {}", program_.name, batch.error().message());
      return;
    }
    if (batch->bad_lines > 0) {
      spdlog::warn("{}: {} unreadable in the journal of attempt {}", program_.name,
                   count(batch->bad_lines, "line"), state_.attempt);
    }
    for (const JournalRecord& record : batch->records) take_record(record);
    journal_offset_ = batch->next_offset;
    more = batch->more;
    drain();
  }
}

void ProgramRunner::take_record(const JournalRecord& record) {
  if (record.type == "exited" || record.type == "exec_failed") exit_offset_ = record.offset;
  if (record.type == "started") {
    pending_.push_back({core::WorkerStarted{int_or(record.fields, "pid", 0)}, record.at});
  } else if (record.type == "message") {
    for (auto& event : events_of(record, services_.paths.checkpoints(program_.name))) {
      pending_.push_back({std::move(event), record.at});
    }
  } else if (record.type == "exec_failed") {
    exit_ =
        Pending{core::LaunchFailed{string_or(record.fields, "what", "the launch failed"), false},
                record.at};
  } else if (record.type == "exited") {
    core::WorkerExited event;
    if (record.fields.contains("code"))
      event.code = static_cast<int>(int_or(record.fields, "code", 0));
    if (record.fields.contains("signal")) {
      event.signal = static_cast<int>(int_or(record.fields, "signal", 0));
    }
    event.matches = log_evidence(folder_, services_.matcher);
    exit_ = Pending{std::move(event), record.at};
  } else if (record.type == "dropped") {
    spdlog::warn("{}: the disk refused {} and {} of logs of attempt {}", program_.name,
                 count(int_or(record.fields, "messages", 0), "message"),
                 human_bytes(static_cast<std::uint64_t>(int_or(record.fields, "log_bytes", 0))),
                 state_.attempt);
  }
}

// The shim lets the leases go when it ends, so only then may the next attempt begin.
void ProgramRunner::on_shim_gone() {
  shim_.reset();
  read_journal_now();
  if (!exit_) {
    const std::string said(trim(read_tail(folder_ / attempt_files::shim_log, 2000)));
    exit_ = Pending{core::AttemptLost{"the shim ended without an exit record" +
                                      (said.empty() ? "" : ": " + said)},
                    now()};
    exit_offset_ = journal_offset_;
  }
  shim_gone_ = true;
  deliver_exit();
}

void ProgramRunner::deliver_exit() {
  if (!exit_ || !shim_gone_ || verifying_ > 0) return;
  unfollow();
  shim_gone_ = false;
  pending_.push_back(*std::exchange(exit_, std::nullopt));
  drain();
}

// ---- a new daemon ----

Status ProgramRunner::recover() {
  auto row = services_.store.program(program_.name);
  if (!row) return propagate(row);
  if (!*row) {
    state_ = {};
    if (program_.autostart) handle(core::StartRequested{});
    if (!program_.autostart) handle(core::Alive{});  // puts the program into the database
    return {};
  }
  auto value = parse_json((*row)->core_state, "state of " + program_.name);
  auto stored = value ? core::state_from_json(*value) : Result<core::State>(propagate(value));
  if (!stored) return propagate(stored);
  state_ = std::move(*stored);
  if (auto ok = recorder_.recover(state_.attempt); !ok) return ok;
  // The monotonic clock begins anew with the machine; no wait is longer than the longest allowed.
  if (state_.stage == core::Stage::backoff) {
    state_.deadline_mono_ms =
        std::min(state_.deadline_mono_ms, now().mono_ms + policy_.backoff.max_ms);
  }
  if (core::has_worker(state_.stage)) {
    resume_attempt();
  } else if (state_.stage == core::Stage::probing) {
    do_probe();
  } else if (state_.stage == core::Stage::selecting) {
    // The report was not kept, and the board may have changed meanwhile.
    if (policy_.needs_board) {
      state_.stage = core::Stage::probing;
      do_probe();
    } else {
      do_select();
    }
  } else if (at_rest() && state_.wanted) {
    handle(core::StartRequested{});
  }
  arm();
  return {};
}

void ProgramRunner::resume_attempt() {
  follow(state_.attempt);
  if (!core::has_worker(state_.stage)) return;
  // The shim's identity is in the journal's first record, which may lie before the offset.
  auto first = read_journal(folder_ / attempt_files::journal, 0);
  for (const JournalRecord& record : first ? first->records : std::vector<JournalRecord>{}) {
    if (record.type != "started") continue;
    const ProcessId id{static_cast<pid_t>(int_or(record.fields, "shim_pid", 0)),
                       static_cast<std::uint64_t>(int_or(record.fields, "shim_start_ticks", 0)),
                       string_or(record.fields, "boot_id", "")};
    auto shim = ShimProcess::adopt(services_.loop, id, [this] { on_shim_gone(); });
    if (!shim) return on_shim_gone();
    shim_ = std::move(*shim);
    return handle(core::Adopted{});
  }
  if (exit_) return on_shim_gone();
  if (take_lease(services_.paths.program_lease(program_.name))) {
    handle(core::AttemptLost{"the daemon ended between the decision and the launch"});
  }
  // Else somebody holds the lease: the shim is starting, and its first record will come.
}

}  // namespace trainward::daemon
