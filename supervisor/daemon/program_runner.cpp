#include "supervisor/daemon/program_runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "checkpoint/checkpoint.hpp"
#include "common/text.hpp"
#include "supervisor/config/policy.hpp"
#include "supervisor/daemon/foreign_checkpoints.hpp"
#include "supervisor/daemon/rebuild.hpp"

namespace trainward::daemon {
namespace {

bool rests(core::Stage stage) {
  return stage == core::Stage::stopped || stage == core::Stage::exited ||
         stage == core::Stage::fatal || stage == core::Stage::unkillable;
}

// What is safe to do before it is recorded, and may be done twice.
bool needs_no_record(const core::Action& action) {
  return std::holds_alternative<core::SendSignal>(action) ||
         std::holds_alternative<core::CheckActivity>(action);
}

std::int64_t target_of(const config::Program& program) {
  auto training = get_object(program.worker, "training_config");
  return training ? int_or(**training, "steps", 0) : 0;
}

}  // namespace

ProgramRunner::ProgramRunner(Services& services, config::Program program,
                             std::function<void()> changed)
    : services_(services),
      program_(std::move(program)),
      policy_(config::policy_of(program_)),
      changed_(std::move(changed)),
      recorder_(services.store, services.paths, program_.name),
      timer_(services.loop),
      target_step_(target_of(program_)) {}

ProgramRunner::~ProgramRunner() {
  *alive_ = false;
  services_.mesh_wishes.forget(program_.name);
  services_.turns.forget(this);
}

bool ProgramRunner::at_rest() const { return !busy() && rests(state_.stage); }

bool ProgramRunner::at_rest_unrecorded() const {
  const core::State& state = newest();
  if (rests(state.stage)) return true;
  return core::has_worker(state.stage) && !launching_ && attempt_ &&
         attempt_->number() == state.attempt && attempt_->over();
}

std::string ProgramRunner::trouble() const {
  if (const auto job = services_.background.running(program_.name);
      job && job->since_ms >= Background::slow_ms) {
    return Background::slow_text(*job);
  }
  if (attempt_) return attempt_->shim_trouble();
  return {};
}

// ---- a turn ----

void ProgramRunner::handle(core::Event event) { say({std::move(event), now()}); }

void ProgramRunner::say(AttemptEvent event) {
  pending_.push_back(std::move(event));
  services_.turns.request(this);
}

bool ProgramRunner::wishes() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const AttemptEvent& waiting) {
    return std::holds_alternative<core::StartRequested>(waiting.event) ||
           std::holds_alternative<core::StopRequested>(waiting.event) ||
           std::holds_alternative<core::RestartRequested>(waiting.event);
  });
}

Status ProgramRunner::prepare() {
  Decided& decided = decided_.emplace();
  decided.state = state_;
  decided.before = recorder_.attempt();
  const bool attempt_runs = core::has_worker(state_.stage);
  for (const AttemptEvent& waiting : pending_) {
    decided.at = waiting.at;
    auto outcome = core::step(std::move(decided.state), waiting.event, policy_, waiting.at);
    decided.state = std::move(outcome.state);
    for (core::Action& action : outcome.actions) {
      if (auto ok = recorder_.record(action, decided.state, waiting.at); !ok) return ok;
      decided.actions.push_back(std::move(action));
    }
    if (!waiting.compiled) continue;
    auto ok = add_compiled(services_.store, program_.name, decided.state.attempt, *waiting.compiled,
                           waiting.at);
    if (!ok) return ok;
  }
  decided.events = pending_.size();
  auto ok = recorder_.save_state(decided.state, program_.digest, target_step_, decided.at);
  if (!ok || !attempt_runs || !attempt_) return ok;
  return services_.store.set_journal_offset(program_.name, state_.attempt, attempt_->offset());
}

void ProgramRunner::finish(bool committed) {
  auto decided = std::exchange(decided_, std::nullopt);
  if (!committed) {
    if (decided) recorder_.restore(std::move(decided->before));
    act_unrecorded();
    return changed_();
  }
  if (!decided) return;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(decided->events));
  state_ = std::move(decided->state);
  const Unrecorded before = std::exchange(unrecorded_, {});
  show(decided->actions, decided->at);
  std::size_t done = before.carried_out;
  for (const core::Action& action : decided->actions) {
    if (done > 0 && needs_no_record(action)) {
      --done;
    } else {
      execute(action);
    }
  }
  compile_while_no_board();
  keep_boards();
  watch_worker();
  arm();
  deliver_exit();
  changed_();
}

// A full disk stops nobody's stop: signals are sent, once each, and deadlines go on. What was
// decided is the same as when it is recorded, because the events are; the journal has it on record
// that the shim was asked.
void ProgramRunner::act_unrecorded() {
  core::Actions due;
  if (!unrecorded_.state) unrecorded_.state = state_;
  for (; unrecorded_.events < pending_.size(); ++unrecorded_.events) {
    const AttemptEvent& waiting = pending_[unrecorded_.events];
    auto outcome = core::step(std::move(*unrecorded_.state), waiting.event, policy_, waiting.at);
    unrecorded_.state = std::move(outcome.state);
    for (core::Action& action : outcome.actions) {
      if (needs_no_record(action)) due.push_back(std::move(action));
    }
  }
  unrecorded_.carried_out += due.size();
  for (const core::Action& action : due) execute(action);
  arm();
}

void ProgramRunner::arm() {
  // While old records are still being read, the deadlines they set have long passed.
  const bool behind = attempt_ && attempt_->behind();
  const std::int64_t next = behind ? 0 : core::next_timer_ms(newest());
  if (next == 0) return timer_.cancel();
  timer_.after(next - now().mono_ms, [this] {
    // No verdict before everything it has said is heard, whoever should have told of it.
    for (bool more = attempt_ != nullptr; more; more = attempt_->behind()) attempt_->read();
    handle(core::TimerFired{});
  });
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

// ---- the attempt ----

void ProgramRunner::follow(std::int64_t attempt) {
  const auto offset = services_.store.journal_offset(program_.name, attempt);
  exit_due_ = false;
  attempt_ = std::make_unique<AttemptFollower>(
      services_,
      AttemptFollower::Attempt{program_.name, attempt,
                               services_.paths.attempt(program_.name, attempt),
                               services_.paths.checkpoints(program_.name), offset.value_or(0)},
      AttemptFollower::Listener{[this](AttemptEvent event) { say(std::move(event)); },
                                [this] { arm(); }, [this] { on_attempt_ended(); }});
  // A queue of its own: the last look at the end of an attempt waits for no long verification.
  auto in_background = [&background = services_.background,
                        queue = program_.name + " folders"](BackgroundJob job) {
    background.run(queue, {"look at the program's folders", std::move(job)});
  };
  foreign_ = watch_foreign(services_, std::move(in_background), program_, attempt_->folder(),
                           state_, [this](foreign::Events events) {
                             for (core::Event& event : events) {
                               // A checkpoint that the worker has told of itself was verified by
                               // now.
                               const auto* file = std::get_if<core::CheckpointReported>(&event);
                               const bool known = file != nullptr && file->step <= state_.kept_step;
                               if (!known) handle(std::move(event));
                             }
                           });
}

void ProgramRunner::on_attempt_ended() {
  changed_();  // whoever waits for the process to be gone
  worker_.reset();
  board_watch_.reset();
  if (!foreign_) return on_all_seen();
  foreign_->finish([this] {
    foreign_.reset();
    on_all_seen();
  });
}

// The log is read on the background thread: it may be long, and the rules are many.
void ProgramRunner::on_all_seen() {
  if (!std::holds_alternative<core::WorkerExited>(attempt_->exit()->event)) {
    exit_due_ = true;
    return deliver_exit();
  }
  // Once: with what the logs say, or without it when they cannot be read in time.
  const auto end = [this, told = std::make_shared<bool>(false)](LogEvidence evidence) {
    if (std::exchange(*told, true)) return;
    exit_due_ = true;
    attempt_->add_evidence(std::move(evidence));
    deliver_exit();
  };
  in_background(
      "read the logs in " + attempt_->folder().string(),
      [this, end, folder = attempt_->folder(),
       read = services_.crash_rules.reader()]() -> std::function<void()> {
        auto evidence = read(folder);
        return [this, end, evidence = std::move(evidence)]() mutable {
          services_.crash_rules.used();
          end(std::move(evidence));
        };
      },
      [this, end] {
        spdlog::warn("{}: the logs of attempt {} cannot be read; its end is judged without them",
                     program_.name, state_.attempt);
        end({});
      });
}

// What the attempt kept must be known before its end is judged.
void ProgramRunner::deliver_exit() {
  // What still waits for its turn may be a checkpoint that is to be verified.
  if (!exit_due_ || busy() || verifying_ > 0 || !attempt_ || !attempt_->exit()) return;
  exit_due_ = false;
  say(*attempt_->exit());
  // The time between its end and this daemon's start belongs to nobody's work.
  if (auto restarted = std::exchange(restarted_, std::nullopt)) handle(*restarted);
}

// ---- a new daemon ----

Status ProgramRunner::recover(bool machine_restarted, bool by_hand) {
  auto row = services_.store.program(program_.name);
  if (!row) return propagate(row);
  if (!*row) {
    state_ = {};
    // An event that changes nothing puts the program into the database.
    handle(program_.autostart ? core::Event(core::StartRequested{}) : core::Event(core::Alive{}));
    return {};
  }
  auto value = parse_json((*row)->core_state, "state of " + program_.name);
  auto stored = value ? core::state_from_json(*value) : Result<core::State>(propagate(value));
  if (!stored) {
    spdlog::error("{}; going on from its newest attempt", stored.error().message());
    stored = state_of_newest_attempt();
  }
  if (!stored) return propagate(stored);
  state_ = std::move(*stored);
  if (auto ok = recorder_.recover(state_.attempt); !ok) return ok;
  if (core::has_worker(state_.stage)) {
    resume_attempt(machine_restarted);
  } else {
    handle(core::DaemonStarted{machine_restarted});
    const bool given_up = state_.stage == core::Stage::fatal && state_.wanted;
    if (given_up && by_hand) handle(core::StartRequested{});
  }
  arm();
  return {};
}

Result<core::State> ProgramRunner::state_of_newest_attempt() const {
  auto attempts = services_.store.attempts(program_.name);
  if (!attempts) return propagate(attempts);
  if (attempts->empty()) return core::State{};
  const store::AttemptRow& last = attempts->back();
  core::State state =
      state_after(last, services_.paths.checkpoints(program_.name), program_.autostart);
  state.highest_step = services_.store.highest_step(program_.name).value_or(0);
  state.kept_step = services_.store.newest_checkpoint(program_.name).value_or(0);
  state.kept_at_launch = state.kept_step;
  return state;
}

void ProgramRunner::resume_attempt(bool machine_restarted) {
  follow(state_.attempt);
  // In pieces: a journal of two weeks need not fit into memory.
  for (attempt_->read(); attempt_->behind(); attempt_->read()) services_.turns.now();
  verify_unknown_checkpoints();
  // What the old attempt's end asks for, this daemon has been asked; so nothing was lost.
  restarted_ = core::DaemonStarted{machine_restarted, false};
  if (attempt_->exit() && machine_restarted) return on_attempt_ended();
  if (!machine_restarted && !attempt_->adopt()) return;
  // It lives on, or it went down with the machine and left no word.
  restarted_.reset();
  handle(core::DaemonStarted{machine_restarted});
  if (!machine_restarted) handle(core::Adopted{});
}

// Reported to the daemon before, which did not live to judge them.
void ProgramRunner::verify_unknown_checkpoints() {
  auto known = services_.store.newest_checkpoint(program_.name);
  if (!known) return;
  std::set<std::int64_t> reported;
  for (const AttemptEvent& waiting : pending_) {
    if (const auto* said = std::get_if<core::CheckpointReported>(&waiting.event)) {
      reported.insert(said->step);
    }
  }
  ++verifying_;  // the end of the attempt waits for this as well
  const auto root = services_.paths.checkpoints(program_.name);
  in_background(
      "list the checkpoints in " + root.string(),
      [this, root, known = *known, reported = std::move(reported),
       attempt = state_.attempt]() -> std::function<void()> {
        auto found = checkpoint::list(root);
        return [this, found = std::move(found), known, reported, attempt] {
          --verifying_;
          for (const auto& summary : found ? *found : std::vector<checkpoint::Summary>{}) {
            if (summary.step <= known) break;
            if (reported.contains(summary.step)) continue;
            do_verify({attempt, summary.path.string(), summary.step});
          }
          deliver_exit();
        };
      });
}

}  // namespace trainward::daemon
