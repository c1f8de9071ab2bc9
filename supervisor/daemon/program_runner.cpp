#include "supervisor/daemon/program_runner.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/daemon/attempt/attempt_processes.hpp"
#include "supervisor/daemon/records/catch_up.hpp"
#include "supervisor/daemon/records/recovery.hpp"
#include "supervisor/decide/core/turn/classify.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::daemon {

ProgramRunner::ProgramRunner(Services& services, config::Program program,
                             std::function<void()> changed)
    : context_(services, std::move(program), std::move(changed)),
      recorder_(services.store, services.paths, context_.program),
      news_(services.loop, services.news, services.store, recorder_, context_.name(),
            context_.policy, [this]() -> const core::State& { return session_.state(); }),
      boards_(context_),
      checkpoints_(context_),
      shim_(context_, boards_, recorder_),
      clock_(services.loop),
      session_({services.turns, clock_, news_, *this, shim_}, context_.policy) {
  context_.session = &session_;
}

std::string ProgramRunner::trouble() const {
  if (std::string doing = checkpoints_.restoring(); !doing.empty()) return doing;
  if (const auto job = context_.services.background.running(context_.name());
      job && job->since_ms >= Background::slow_ms) {
    return Background::slow_text(*job);
  }
  return shim_.trouble();
}

Status ProgramRunner::recover(bool machine_restarted, bool by_hand) {
  if (auto ok = catch_up_with_folders(); !ok) return ok;
  auto stored = stored_state(context_.services.store, context_.services.paths, context_.program);
  if (!stored) return propagate(stored);
  if (!*stored) {
    session_.begin(context_.program.autostart);
    return {};
  }
  // Which start of the machine a program has heard of is committed with its state: a daemon may
  // have died before it could tell.
  const std::string& known_boot = (*stored)->boot_id;
  const bool returns = (*stored)->returns || (*stored)->has_more;
  if (!known_boot.empty()) machine_restarted = started_since(known_boot);
  if (auto ok = recorder_.recover((*stored)->state.attempt, known_boot); !ok) return ok;
  // What says so may be damaged; a shim that lives is a fact.
  if (core::has_worker((*stored)->state.stage) && shim_.lives()) machine_restarted = false;
  if (auto ok = news_.recover((*stored)->state.seen.wall.ms); !ok) return ok;
  session_.recover(std::move((*stored)->state), (*stored)->counted, machine_restarted);
  if (returns && context_.program.autostart) handle(core::StartRequested{});
  const bool given_up = state().stage == core::Stage::fatal && state().wanted;
  if (given_up && by_hand) handle(core::StartRequested{});
  if (state().stage == core::Stage::exited && !returns) tell_that_it_is_done();
  return {};
}

// Otherwise a user who types the same command again would see nothing happen.
void ProgramRunner::tell_that_it_is_done() const {
  const bool own = !context_.program.worker.empty();
  context_.services.console.event(
      context_.name(), "state",
      fmt::format("EXITED: {}; {}", state().reason,
                  own ? "more steps or epochs in its configuration let it go on"
                      : fmt::format("trainwardctl start {} runs it again", context_.name())),
      now());
}

Status ProgramRunner::catch_up_with_folders() {
  const Services& services = context_.services;
  auto unknown =
      catch_up(services.store, services.paths, context_.program, services.crash_rules.reader());
  if (!unknown) return propagate(unknown);
  if (*unknown == 0) return {};
  const std::string what =
      fmt::format("the run database was older than {} of {}; back from the journals",
                  count(*unknown, "attempt"), context_.name());
  spdlog::warn("{}", what);
  services.news.note(notify::Kind::database,
                     "the run database was older "
                     "than its attempts",
                     what);
  return services.store.add_event({0, now().wall.ms, context_.name(), 0, "database", what});
}

void ProgramRunner::select(const core::SelectCheckpoint& order) {
  shim_.reserve([this, order](const Status& ready) {
    if (state().stage != core::Stage::selecting) return;
    if (ready) return checkpoints_.select(order);
    handle(core::NotReady{ready.error().message()});
  });
}

Status ProgramRunner::signal(int number) {
  if (!core::has_worker(state().stage)) {
    return fail(ErrorKind::permanent, "there is no worker", context_.name());
  }
  const auto marks =
      marks_of(context_.services.store, context_.services.paths, recorder_.attempt());
  if (auto sent = containment::signal_worker(marks.facts, number); !sent) return sent;
  // Also evidence: should the worker end of it, the machine is not to blame.
  handle(core::HostFact{"operator", 5, core::Cause::unknown,
                        core::signal_name(number) + " was sent by trainwardctl"});
  return {};
}

void ProgramRunner::clear_logs(std::function<void(Result<std::string>)> then) const {
  const bool over = at_rest() || state().stage == core::Stage::backoff;
  const std::int64_t kept = over ? 0 : state().attempt;
  const auto attempts = context_.services.paths.attempts(context_.name());
  context_.in_background(
      "empty the logs", [attempts, kept, then = std::move(then)]() -> Background::Then {
        Status cleared;
        for (const auto& [number, folder] : containment::attempt_folders(attempts)) {
          for (const char* log : {attempt_files::standard_output, attempt_files::standard_error}) {
            if (number == kept || !cleared) continue;
            cleared = clear_log(folder / log);
          }
        }
        return [kept, then, cleared]() mutable {
          if (!cleared) return then(propagate(cleared));
          then(kept == 0 ? "" : fmt::format("the logs of attempt {}, which runs, stay", kept));
        };
      });
}

void ProgramRunner::turned(bool committed) {
  if (committed) {
    checkpoints_.turned();
    boards_.turned();
    shim_.turned();
  }
  context_.changed();
}

void ProgramRunner::recorded(const core::Actions& actions, Time at) {
  for (const WorkerSample& sample : recorder_.samples()) {
    context_.services.console.sample(context_.name(), sample, at);
  }
  for (const core::Action& action : actions) {
    if (const auto* event = std::get_if<core::RecordEvent>(&action)) {
      spdlog::info("{}: {}: {}", context_.name(), event->kind, event->text);
      if (event->kind != "checkpoint") {
        context_.services.console.event(context_.name(), event->kind, event->text, at);
      }
    }
    if (const auto* step = std::get_if<core::RecordStep>(&action)) {
      const StepFigures& told = step->figures;
      if (told.loss) told_loss_ = told.loss;
      if (told.tokens_per_second) told_rate_ = told.tokens_per_second;
      context_.services.console.progress(
          {context_.name(), std::string(core::display(state().stage)), state().attempt,
           step->step.number, core::target_of(state(), context_.policy.target_step).number,
           told_loss_, told_rate_},
          at);
    }
  }
}

}  // namespace trainward::daemon
