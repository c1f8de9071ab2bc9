#include "supervisor/daemon/hands/shim_hands.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/wire/kept_state.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/config/launch_environment.hpp"
#include "supervisor/daemon/attempt/attempt_processes.hpp"
#include "supervisor/daemon/attempt/launcher.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/daemon/hands/foreign_checkpoints.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::daemon {
namespace {

// Of the journal in one turn of the loop: what it tells is decided and recorded in one transaction,
// and nobody else has a turn meanwhile.
constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::int64_t read_again_ms = 150;

// What has to be left for a standby to stay.
std::int64_t least_memory(const core::MemorySample& memory) {
  constexpr std::int64_t least = std::int64_t{256} << 20;
  return std::max(least, memory.used_bytes / 10);
}

bool rests(core::Stage stage) {
  return stage == core::Stage::stopped || stage == core::Stage::exited ||
         stage == core::Stage::fatal;
}

// 0: there is no file.
std::uint64_t inode_of(const std::filesystem::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? info.st_ino : 0;
}

}  // namespace

// ---- its begin ----

// What is held by something that still runs is waited for before an attempt begins; then it is kept
// for the attempt.
void ShimHands::reserve(std::function<void(const Status&)> then) {
  c_.end_leftovers_then([this, then = std::move(then)](const Status& ended) {
    if (!ended) return then(ended);
    if (lease_) return then({});
    auto lease = take_lease(c_.services.paths.program_lease(c_.name()));
    if (!lease) return then(propagate(lease));
    lease_ = std::move(*lease);
    then({});
  });
}

Status ShimHands::launch(const core::Launch& order) {
  fault_point("launch.decided");
  LaunchOrder what;
  what.attempt = order.attempt;
  what.nonce = recorder_.attempt().nonce;
  what.resume_from = order.resume_from;
  what.resume_step = c_.session->state().current.resume_step.number;
  what.plan = order.plan;
  what.disk_only = order.disk_only;
  boards_.add_to(what, order);
  may_keep_state_ = true;
  const bool waiting = standby_ && standby_->state() == Standby::State::ready;
  auto launched = daemon::launch(c_.program, what, c_.services.paths, std::move(lease_),
                                 boards_.give_leases(), waiting ? standby_.get() : nullptr);
  fault_point("launch.done");
  if (!launched) return propagate(launched);
  launched_ = order;
  memory_.reset();
  if (launched->from_standby)
    c_.note("standby", "the attempt goes on with a worker that was ready");
  dismiss_standby(waiting || launched->from_standby ? launched->unused : "it was not ready yet");
  follow(order.attempt);
  auto shim = ShimProcess::child(c_.services.loop, launched->shim, [this] { on_shim_gone(); });
  if (!shim) return propagate(shim);
  shim_ = std::move(*shim);
  return {};
}

void ShimHands::follow(std::int64_t attempt) {
  const auto folder = c_.services.paths.attempt(c_.name(), attempt);
  shim_.reset();
  journal_.emplace(c_.name(), attempt, folder, c_.services.paths.checkpoints(c_.name()),
                   recorder_.attempt().nonce);
  watch_journal();
  // A queue of its own: the last look at the end of an attempt waits for no long verification.
  // As the program's user: its names lead nowhere that the user itself could not go.
  auto in_background = [&background = c_.services.background, queue = c_.name() + " folders",
                        program = c_.program, paths = c_.services.paths](BackgroundJob job) {
    background.run(queue, {"look at the program's folders",
                           [program, paths, job = std::move(job)]() -> Background::Then {
                             const InItsFolders acting(program, paths);
                             if (acting) return job();
                             return [name = program.name, why = acting.why().value().message()] {
                               spdlog::warn("{}: its folders are not looked at: {}", name, why);
                             };
                           }});
  };
  foreign_ = watch_foreign(
      c_.services, std::move(in_background), c_.program, folder, c_.session->state(),
      [this](foreign::Events events) {
        for (core::Event& event : events) {
          // A checkpoint that the worker has told of itself was verified by
          // now.
          const auto* file = std::get_if<core::CheckpointReported>(&event);
          const bool known = file != nullptr && file->step <= c_.session->state().history.kept_step;
          if (!known) c_.handle(std::move(event));
        }
      });
}

session::Found ShimHands::find() {
  const auto marks = this->marks();
  auto id = marks.facts.shim;
  if (!id) id = containment::shim_by_name(marks.facts.folder);
  if (!id) return somebody_lives() ? session::Found::starting : session::Found::never;
  return adopt(*id) ? session::Found::lives : session::Found::gone;
}

containment::AttemptMarks ShimHands::marks() const {
  return marks_of(c_.services.store, c_.services.paths, recorder_.attempt());
}

bool ShimHands::lives() const {
  const auto marks = this->marks();
  return marks.facts.shim && open_process(*marks.facts.shim).has_value();
}

bool ShimHands::adopt(const ProcessId& id) {
  auto shim = ShimProcess::adopt(c_.services.loop, id, [this] { on_shim_gone(); });
  if (shim) shim_ = std::move(*shim);
  return shim.has_value();
}

// A live process of the attempt holds the program's lease.
bool ShimHands::somebody_lives() const {
  return !take_lease(c_.services.paths.program_lease(c_.name()));
}

// Each time it is read is a commit, which is forty times what a step is. A worker of many steps a
// second has six of them a second, after the first twenty.
void ShimHands::journal_grew() {
  if (reads_later_) return;
  reads_.refill(now().mono);
  if (reads_.has_one()) {
    reads_.take(1, 0);
    return c_.session->journal_grew();
  }
  reads_later_ = true;
  read_later_.after(read_again_ms, [this] {
    reads_later_ = false;
    c_.session->journal_grew();
  });
}

// The file that is written now; another replaces it when it is long or was recreated.
void ShimHands::watch_journal() {
  const auto file = journal_->folder() / attempt_files::journal;
  const auto grew = [this, alive = c_.alive()] {
    if (*alive) journal_grew();
  };
  watched_ = inode_of(file);
  const FileWatcher::Handle watcher = c_.services.watcher.handle();
  // Somebody has taken it: the shim makes a new one.
  auto watch = watched_ != 0
                   ? watcher.add(file, grew)
                   : watcher.add_folder(journal_->folder(), [grew](const auto&) { grew(); });
  if (watch) {
    watch_ = std::move(*watch);
  } else {
    // Still safe: it is read before each verdict and when the shim ends. Live progress is missing.
    spdlog::warn("{}: {}", c_.name(), watch.error().message());
  }
}

session::JournalPiece ShimHands::read(std::int64_t offset) {
  auto piece = journal_->read(offset, piece_bytes);
  if (journal_->inode() != 0 && journal_->inode() != watched_) {
    watch_journal();
    piece.more = true;  // what was written before it was watched
  }
  return piece;
}

// ---- its signals ----

// A kill goes to the shim; the second one to the worker as well, and the third to both.
session::Found ShimHands::signal(core::Signal signal) {
  fault_point("signal.decided");
  const core::State& state = c_.session->newest();
  const bool hangs = signal == core::Signal::kill && state.current.kill &&
                     state.current.kill->cause == core::Cause::hang;
  if (hangs && worker_) {
    // What it was waiting for, while it can still be seen.
    if (auto report = worker_->thread_report(); !report.empty()) {
      c_.handle(core::HostFact{"threads", core::weight::shown_only, core::Cause::hang,
                               std::move(report)});
    }
  }
  if (auto text = trouble(); !text.empty()) {
    c_.handle(
        core::HostFact{"shim", core::weight::shown_only, core::Cause::unknown, std::move(text)});
  }
  if (!shim_) {
    if (!somebody_lives()) return session::Found::never;
    tell_whoever_is_found(signal);
    return session::Found::starting;
  }
  const bool again = signal == core::Signal::kill && state.current.kills_sent > 1;
  if (again) containment::kill_worker(marks().facts);
  const Status sent = again && state.current.kills_sent > 2 ? shim_->end() : shim_->send(signal);
  if (!sent) spdlog::warn("{}: {}", c_.name(), sent.error().message());
  return session::Found::lives;
}

// Its journal is damaged, or the shim has yet to write it: looked for among the processes. What has
// lost its shim is killed by what marks it as the attempt's.
void ShimHands::tell_whoever_is_found(core::Signal signal) {
  c_.look_at_processes(
      [this, signal, marks = marks(), attempt = recorder_.attempt().number]() -> Background::Then {
        auto id = marks.facts.shim;
        if (!id) id = containment::shim_by_name(marks.facts.folder);
        const bool kills = !id && signal == core::Signal::kill;
        const int killed = kills ? containment::kill_attempt(marks) : 0;
        return [this, signal, id, kills, killed, attempt] {
          if (shim_ || recorder_.attempt().number != attempt) return;
          if (id && adopt(*id)) {
            spdlog::warn("{}: attempt {} was found by its processes", c_.name(), attempt);
            if (auto sent = shim_->send(signal); !sent) spdlog::warn(sent.error().message());
          } else if (id) {
            c_.session->shim_ended();
          } else if (kills && killed == 0) {
            c_.session->nobody_left();
          } else if (kills) {
            spdlog::warn("{}: killed {} of attempt {}, whose shim is gone", c_.name(),
                         count(killed, "process"), attempt);
          }
        };
      });
}

// ---- the worker, while it runs ----

void ShimHands::turned() {
  const core::State& state = c_.session->state();
  const bool selecting =
      state.stage == core::Stage::selecting || state.stage == core::Stage::launching;
  if (!selecting) lease_.reset();
  tend_standby();
  // A daemon that goes leaves what is wanted to the next one.
  const bool goes_on = state.stage == core::Stage::stopped && state.wanted;
  if (rests(state.stage) && !goes_on && std::exchange(may_keep_state_, false)) forget_kept_state();
  if (state.current.pid == 0 || !shim_ || !core::has_worker(state.stage)) return;
  if (!worker_) {
    std::vector<std::string> bus_ids;
    for (const std::string& serial : core::serials_of(state.boards)) {
      const hwprobe::Board* found = boards_.board(serial);
      if (found != nullptr && !found->bus_id.empty()) bus_ids.push_back(found->bus_id);
    }
    worker_ = std::make_shared<WorkerWatch>(
        c_.services.machine,
        WatchedWorker{static_cast<pid_t>(state.current.pid), shim_->pid(), std::move(bus_ids),
                      c_.services.paths.caches(state.boards.board, config::own_cache(c_.program))},
        [this](core::HostFact fact) { c_.handle(std::move(fact)); });
    watch_boards();
  }
  if (state.stage != core::Stage::training || !worker_->sample_due(now().mono)) return;
  c_.look_at_processes([this, worker = worker_->processes()]() -> Background::Then {
    auto sample = worker->memory();
    return [this, sample] {
      memory_ = sample;
      if (sample) c_.handle(*sample);
    };
  });
}

// No attempt follows by itself that could want it.
void ShimHands::forget_kept_state() {
  c_.look_at_processes(
      [folder = c_.services.paths.attempts(c_.name()).parent_path()]() -> Background::Then {
        (void)take_kept_state(folder);  // and close it
        return [] {};
      });
}

// ---- the next attempt's worker ----

// From the attempt's first new step on, when it is known that this one trains.
void ShimHands::tend_standby() {
  if (!c_.program.standby) return;
  const core::State& state = c_.session->state();
  if (rests(state.stage) || state.stage == core::Stage::stopping) dismiss_standby("");
  if (rests(state.stage)) return clear_folders();
  if (standby_ && memory_ && memory_->available_bytes < least_memory(*memory_)) {
    return dismiss_standby("memory is short");
  }
  const bool trains = state.stage == core::Stage::training &&
                      state.current.last_step.number > state.current.resume_step.number;
  if (!trains || standby_ || !launched_ || !memory_ || never_standby_ ||
      without_standby_ == state.attempt) {
    return;
  }
  without_standby_ = state.attempt;  // one try for each
  if (memory_->available_bytes < memory_->used_bytes + least_memory(*memory_)) {
    return c_.note(
        "standby",
        fmt::format("no room for one: the worker uses {}, {} are left, and {} of that stay free",
                    human_bytes(static_cast<std::uint64_t>(memory_->used_bytes)),
                    human_bytes(static_cast<std::uint64_t>(memory_->available_bytes)),
                    human_bytes(static_cast<std::uint64_t>(least_memory(*memory_)))));
  }
  core::Launch order = *launched_;
  order.attempt = state.attempt + 1;
  order.resume_from.clear();
  LaunchOrder what;
  what.attempt = order.attempt;
  what.nonce = recorder_.next_nonce();
  what.plan = order.plan;
  boards_.add_to(what, order);
  auto started = start_standby(c_.services.loop, c_.program, what, c_.services.paths,
                               recorder_.attempt().nonce, [this] { standby_changed(); });
  if (!started) return c_.note("standby", "it cannot be started: " + started.error().message());
  standby_ = std::move(*started);
  clears_standbys_ = true;
  c_.spared = {standby_->nonce(), standby_->attempt()};
}

// Of one that has become an attempt the folder was in use until now.
void ShimHands::clear_folders() {
  if (!std::exchange(clears_standbys_, false)) return;
  in_background_even_when_gone(
      "remove the standby's folder",
      [folder = c_.services.paths.standbys(c_.name())] { clear_standbys(folder); });
}

void ShimHands::in_background_even_when_gone(std::string what, std::function<void()> work) {
  c_.services.background.run(c_.name() + " standby",
                             {std::move(what), [work = std::move(work)]() -> Background::Then {
                                work();
                                return [] {};
                              }});
}

void ShimHands::standby_changed() {
  if (standby_->state() == Standby::State::ready) {
    return c_.note("standby", "the next attempt's worker is ready, and waits");
  }
  if (standby_->state() != Standby::State::gone) return;
  never_standby_ = standby_->trained();
  const std::string why = standby_->why_gone();
  dismiss_standby(never_standby_ ? why + "; it gets no standby until it is configured otherwise"
                                 : why);
}

void ShimHands::dismiss_standby(const std::string& why) {
  if (!standby_) return;
  if (!why.empty()) c_.note("standby", "the next attempt starts as usual: " + why);
  auto clear = standby_->clearing();
  standby_.reset();
  in_background_even_when_gone("end the standby", std::move(clear));
  c_.spared = {};
  recorder_.forget_next_nonce();
}

void ShimHands::watch_boards() {
  const core::State& state = c_.session->state();
  if (c_.program.sample_every_ms == 0 || state.boards.board.empty()) return;
  BoardWatch::Order order;
  for (const std::string& serial : core::serials_of(state.boards)) {
    const hwprobe::Board* found = boards_.board(serial);
    WatchedBoard watched{serial, found == nullptr ? "" : found->bus_id};
    // A daemon that took the worker over has not looked at the boards.
    if (found == nullptr) watched.bus_id = c_.services.store.board_bus_id(serial).value_or("");
    order.boards.push_back(std::move(watched));
  }
  order.program = c_.name();
  order.attempt = state.attempt;
  order.host = c_.program.host;
  order.every_ms = c_.program.sample_every_ms;
  board_watch_ = std::make_unique<BoardWatch>(
      c_.services.loop, processes_, c_.services.paths, c_.services.store, std::move(order),
      [this](core::HostFact fact) { c_.handle(std::move(fact)); });
}

void ShimHands::check_activity() {
  if (!worker_) return;
  c_.look_at_processes([this, worker = worker_->processes()]() -> Background::Then {
    auto seen = worker->activity();
    return [this, seen] {
      if (seen) c_.handle(*seen);
    };
  });
}

// ---- its end ----

void ShimHands::on_shim_gone() {
  shim_.reset();
  c_.session->shim_ended();
}

std::string ShimHands::last_words() {
  return std::string(trim(read_tail(journal_->folder() / attempt_files::shim_log, 2000)));
}

void ShimHands::look_back(bool logs) {
  c_.changed();  // listeners that wait for the process to be gone
  watch_ = {};
  worker_.reset();
  board_watch_.reset();
  const auto then = [this, logs] {
    if (logs) return look_at_logs();
    c_.session->looked_back({});
  };
  if (!foreign_) return then();
  foreign_->finish([this, then] {
    foreign_.reset();
    then();
  });
}

// On a thread: the log may be long, and the rules are many.
void ShimHands::look_at_logs() {
  // Once: with what the logs say, or without it when they cannot be read in time.
  const auto end = [this, told = std::make_shared<bool>(false)](session::LogEvidence evidence) {
    if (!std::exchange(*told, true)) c_.session->looked_back(std::move(evidence));
  };
  c_.in_background(
      "read the logs in " + journal_->folder().string(),
      [end, folder = journal_->folder(),
       read = c_.services.crash_rules.reader()]() -> Background::Then {
        auto evidence = read(folder);
        return [end, evidence = std::move(evidence)]() mutable { end(std::move(evidence)); };
      },
      [this, end] {
        spdlog::warn("{}: the logs of attempt {} cannot be read; its end is judged without them",
                     c_.name(), c_.session->state().attempt);
        end({});
      });
}

}  // namespace trainward::daemon
