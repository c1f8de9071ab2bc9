#include "supervisor/daemon/daemon.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "common/file.hpp"
#include "common/launch.hpp"
#include "common/log_files.hpp"
#include "common/protocol.hpp"
#include "common/text.hpp"
#include "common/version.hpp"
#include "supervisor/api/routes.hpp"
#include "supervisor/daemon/board_probe.hpp"
#include "supervisor/daemon/lease.hpp"
#include "supervisor/daemon/program_diff.hpp"
#include "supervisor/daemon/rebuild.hpp"

namespace trainward::daemon {
namespace {

// `trainwardctl start` answers when the worker is up, but does not wait for a long compilation.
constexpr std::int64_t start_answer_ms = 2'000;
// Beyond the slowest worker's own time to save: the shim's sweep, the verdict, a slow disk.
constexpr std::int64_t end_margin_ms = 30'000;
constexpr const char* lock_name = "trainwardd.lock";

json::value command_answer(const std::string& program, std::string_view result, bool ok,
                           const std::string& message) {
  return json::object{
      {"program", program}, {"result", std::string(result)}, {"ok", ok}, {"message", message}};
}

// Of a restart: also whether the program was running.
api::Control::Answer with_stopped(api::Control::Answer answer, bool stopped) {
  return {[answer, stopped](Result<json::value> value) {
            if (value) value->as_object()["stopped"] = stopped;
            answer(std::move(value));
          },
          [answer] { return answer.wanted(); }};
}

json::object loop_json(const LoopLatency::Figures& figures) {
  return {{"samples", figures.samples},
          {"latency_ms", json::object{{"last_minute_max", figures.last_minute_max_ms},
                                      {"p50", figures.p50_ms},
                                      {"p99", figures.p99_ms},
                                      {"max", figures.max_ms}}}};
}

template <typename T>
Result<json::value> as_value(Result<T> result) {
  if (!result) return propagate(result);
  return json::value(std::move(*result));
}

}  // namespace

// Everything the programs share, in the order it must be made; torn down in the opposite order.
struct Daemon::Parts {
  Parts(Loop& loop_in, Options options_in, config::Config config_in, Fd lock_in,
        store::Store store_in, Paths paths)
      : loop(loop_in),
        options(std::move(options_in)),
        config(std::move(config_in)),
        lock(std::move(lock_in)),
        store(std::move(store_in)),
        watcher(loop_in, [this](const std::string& text) { note_watching(text); }),
        turns(loop_in, store),
        crash_rules(loop_in, config.rules),
        machine(loop_in),
        background(loop_in),
        console(options.once),
        services{loop,    std::move(paths), store,      turns,  crash_rules,
                 machine, watcher,          background, console} {}

  void note_watching(const std::string& text) {
    spdlog::warn("{}", text);
    if (auto ok = store.add_event({0, now().wall_ms, "", 0, "watch", text}); !ok) {
      spdlog::warn("{}", ok.error().message());
    }
  }

  Loop& loop;
  Options options;
  config::Config config;
  Fd lock;
  store::Store store;
  FileWatcher watcher;
  Turns turns;
  CrashRules crash_rules;
  Machine machine;
  Background background;
  Console console;
  Services services;
};

Result<std::unique_ptr<Daemon>> Daemon::make(Loop& loop, Options options, config::Config config) {
  if (auto made = make_folders(config.state_dir); !made) return propagate(made);
  auto lock = take_lease(config.state_dir / lock_name);
  if (!lock) {
    if (lock.error().kind == ErrorKind::transient) {
      return fail(ErrorKind::transient, "another trainwardd works in this state folder",
                  config.state_dir.string(),
                  "talk to it with `trainwardctl status`, or end it with `trainwardctl shutdown`");
    }
    return propagate(lock);
  }
  std::optional<std::filesystem::path> damaged;
  auto store = store::Store::open(config.database);
  if (!store && store.error().kind == ErrorKind::corrupt) {
    spdlog::error("{}: {}", store.error().where, store.error().what);
    auto aside = set_aside(config.database);
    if (!aside) return propagate(aside);
    damaged = std::move(*aside);
    store = store::Store::open(config.database);
  }
  if (!store) return propagate(store);
  Paths paths{config.state_dir, program_folder()};
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::make_unique<Parts>(loop, std::move(options), std::move(config),
                                         std::move(*lock), std::move(*store), std::move(paths))));
  daemon->damaged_ = std::move(damaged);
  return daemon;
}

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Daemon::Daemon(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)),
      started_ms_(now().wall_ms),
      launch_files_(parts_->background, parts_->services.paths),
      state_folder_(std::make_unique<StateFolder>(
          parts_->loop, parts_->lock.get(), parts_->config.state_dir / lock_name,
          [this](const Error& error) { on_state_lost(error); })) {}
Daemon::~Daemon() = default;

Status Daemon::start() {
  if (auto rules = parts_->crash_rules.check(); !rules) return rules;
  auto booted = parts_->store.boot_id();
  if (!booted) return propagate(booted);
  if (booted->empty()) {
    if (auto ok = rebuild_database(); !ok) return ok;
  }
  machine_restarted_ = !booted->empty() && *booted != boot_id();
  if (auto noted = parts_->store.put_boot_id(boot_id(), now().wall_ms); !noted) return noted;
  api::Handler routes = [&loop = parts_->loop, routes = api::make_routes(*this)](
                            const api::Request& request, api::Respond respond) {
    const Loop::Busy busy(loop);
    routes(request, std::move(respond));
  };
  const int given = parts_->options.listen_fd;
  auto server = given >= 0
                    ? api::HttpServer::adopt(parts_->loop.context(), given, std::move(routes))
                    : api::HttpServer::listen(parts_->loop.context(), parts_->config.socket,
                                              std::move(routes));
  if (!server) return propagate(server);
  server_ = std::move(*server);
  if (auto ok = recover_removed(); !ok) return ok;
  for (const config::Program& program : parts_->config.programs) {
    add_program(program);
    if (auto ok = recover(program.name); !ok) return ok;
  }
  machine_restarted_ = false;
  return {};
}

Status Daemon::recover(const std::string& name) {
  return find(name)->recover(machine_restarted_, parts_->options.once);
}

void Daemon::add_program(config::Program program) {
  const std::string name = program.name;
  // Not at once: the runner that reports may be the one that is to be removed.
  runners_[name] =
      std::make_unique<ProgramRunner>(parts_->services, std::move(program), [this, name] {
        changed_.insert(name);
        on_change_soon();
      });
}

void Daemon::on_change_soon() {
  if (std::exchange(change_posted_, true)) return;
  parts_->loop.post([this] {
    change_posted_ = false;
    on_change();
  });
}

// A new database knows of no attempts; the folders may.
Status Daemon::rebuild_database() {
  auto rebuilt =
      rebuild(parts_->store, parts_->services.paths, parts_->config.programs, parts_->crash_rules);
  if (!rebuilt) return propagate(rebuilt);
  parts_->crash_rules.used();
  if (!damaged_ && rebuilt->attempts == 0) return {};
  const std::string what = fmt::format(
      "{}; {} and {} are back from the journals, earlier events and the ledger are not",
      damaged_ ? "the damaged run database was set aside as " + damaged_->filename().string()
               : "there was no run database",
      count(rebuilt->attempts, "attempt"), count(rebuilt->steps, "step"));
  spdlog::warn("{}", what);
  return parts_->store.add_event({0, now().wall_ms, "", 0, "database", what});
}

// Programs of the database that the configuration does not name any more: stopped, then hidden.
Status Daemon::recover_removed() {
  auto rows = parts_->store.programs();
  if (!rows) return propagate(rows);
  for (const store::ProgramRow& row : *rows) {
    const auto& programs = parts_->config.programs;
    if (std::any_of(programs.begin(), programs.end(),
                    [&](const config::Program& p) { return p.name == row.name; })) {
      continue;
    }
    config::Program gone;
    gone.name = row.name;
    gone.autostart = false;
    add_program(gone);
    if (auto ok = recover(row.name); !ok) return ok;
    find(row.name)->handle(core::StopRequested{"configuration", false});
    waiters_.emplace_back([this, name = row.name] {
      if (!find(name)->at_rest()) return false;
      runners_.erase(name);
      if (auto ok = parts_->store.remove_program(name); !ok) spdlog::warn(ok.error().message());
      return true;
    });
  }
  return {};
}

ProgramRunner* Daemon::find(const std::string& name) {
  const auto found = runners_.find(name);
  return found == runners_.end() ? nullptr : found->second.get();
}

// Of attempts that are over for good; that of the newest one serves compile_ahead() until the
// program rests.
void Daemon::shorten_launch_files() {
  for (const std::string& name : std::exchange(changed_, {})) {
    const ProgramRunner* runner = find(name);
    if (runner == nullptr) continue;  // removed meanwhile
    // What is compiled while there is no board needs the one that was launched last, and the newest
    // number may be one that was not.
    const core::State& state = runner->state();
    const std::int64_t needed = core::has_worker(state.stage) ? state.attempt : state.attempt - 1;
    launch_files_.ended_below(name, runner->at_rest() ? state.attempt + 1 : needed);
  }
}

// Workers are stopped as well: what they do is nowhere on record, and the next daemon, in a folder
// that knows nothing of them, would start others beside them.
void Daemon::on_state_lost(const Error& error) {
  state_lost_ = true;
  spdlog::error("{}; stopping the workers", error.message());
  parts_->console.event("trainwardd", "state", error.message(), now());
  if (!shutting_down_) shut_down();
}

void Daemon::on_change() {
  shorten_launch_files();
  // A waiter may add another, so the list is taken out first.
  auto waiting = std::exchange(waiters_, {});
  for (Waiter& waiter : waiting) {
    if (!waiter()) waiters_.push_back(std::move(waiter));
  }
  if ((shutting_down_ || parts_->options.once) && all_rest() && waiters_.empty()) {
    parts_->loop.stop();
  }
}

// What a database that refuses has not heard of, the next daemon reads in the journals.
bool Daemon::all_rest() const {
  const bool unrecorded = shutting_down_ && parts_->turns.refusal();
  return std::all_of(runners_.begin(), runners_.end(), [&](const auto& entry) {
    return entry.second->at_rest() || (unrecorded && entry.second->at_rest_unrecorded());
  });
}

void Daemon::shut_down(bool at_once) {
  if (std::exchange(shutting_down_, true)) {
    if (at_once) {
      parts_->console.event("trainwardd", "shutdown", "ending the workers at once", now());
      spdlog::warn("ending the workers at once: what they have not saved is lost");
    } else {
      spdlog::warn("asked to stop once more: workers are saving already, and are waited for");
      return;
    }
  } else {
    parts_->console.event("trainwardd", "shutdown", "stopping: workers save and exit", now());
  }
  for (auto& [name, runner] : runners_) {
    runner->handle(core::StopRequested{"shutdown", true, at_once});
  }
  on_change();
}

int Daemon::exit_code() const {
  if (state_lost_) return exit_code::failed;
  if (parts_->turns.refusal()) return exit_code::try_again;
  if (!parts_->options.once) return exit_code::done;
  int code = exit_code::done;
  for (const auto& [name, runner] : runners_) {
    const core::State& state = runner->state();
    if (state.stage == core::Stage::exited && state.last_cause == core::Cause::done) continue;
    if (state.stage == core::Stage::exited) {
      code = exit_code::failed;
    } else if (state.stage == core::Stage::fatal) {
      code = core::facts(state.last_cause).exit_status;
    } else {
      code = exit_code::try_again;  // not finished, whatever it was doing
    }
  }
  return code;
}

// ---- api::Control ----

json::value Daemon::version() const {
  json::array trouble;
  if (auto refused = refusal(); !refused.empty()) trouble.emplace_back(std::move(refused));
  return json::object{{"name", "trainwardd"},
                      {"version", std::string(version_text)},
                      {"api", 1},
                      {"pid", ::getpid()},
                      {"started_ms", started_ms_},
                      {"state_dir", parts_->config.state_dir.string()},
                      {"config", parts_->config.file.string()},
                      {"trouble", std::move(trouble)},
                      {"loop", loop_json(parts_->loop.latency())}};
}

std::string Daemon::refusal() const {
  const auto& refused = parts_->turns.refusal();
  if (!refused) return {};
  return fmt::format(
      "since {} the run database has refused what happens: {}; workers go on, stops and deadlines "
      "act, and all is recorded when it takes it again",
      iso8601(refused->since.wall_ms), refused->error.message());
}

Status Daemon::known(const std::string& program) const {
  if (runners_.contains(program)) return {};
  return fail(ErrorKind::usage, "no such program", program,
              "`trainwardctl status` lists the programs");
}

void Daemon::command(const std::string& name, api::Verb verb, Answer answer) {
  if (auto ok = known(name); !ok) return answer(propagate(ok));
  on_change_soon();  // also of those who asked before and have gone since: they wait no longer
  ProgramRunner& runner = *find(name);
  const bool rest = runner.at_rest();
  const bool up = !rest && runner.state().stage != core::Stage::backoff;
  if (verb == api::Verb::stop) {
    if (rest) return answer(command_answer(name, "not running", false, runner.state().reason));
    return stop(name, std::move(answer));
  }
  if (shutting_down_) {
    return answer(fail(ErrorKind::transient, "trainwardd is shutting down: it starts nothing more",
                       name, "start trainwardd again; it goes on with what was running"));
  }
  if (parts_->turns.refusal()) {
    if (verb == api::Verb::start) runner.handle(core::StartRequested{});
    if (verb == api::Verb::restart) runner.handle(core::RestartRequested{});
    return answer(fail(ErrorKind::transient, "it starts when that is mended: " + refusal(), name,
                       "mend what the database says (free space, permissions)"));
  }
  if (verb == api::Verb::start && up && runner.state().wanted) {
    return answer(command_answer(name, "already started", false, runner.state().reason));
  }
  const std::int64_t before = runner.state().attempt;
  if (verb == api::Verb::restart) answer = with_stopped(std::move(answer), !rest);
  if (verb == api::Verb::start) runner.handle(core::StartRequested{});
  if (verb == api::Verb::restart) runner.handle(core::RestartRequested{});
  auto late = std::make_shared<Timer>(parts_->loop);
  auto timed_out = std::make_shared<bool>(false);
  // A restart first waits for the old worker; the clock of the start runs from then on.
  waiters_.emplace_back([this, name, before, late, timed_out, answer, armed = false]() mutable {
    if (!answer.wanted()) return true;
    ProgramRunner* found = find(name);
    if (found == nullptr) {
      answer(command_answer(name, "removed", false, "the program was removed meanwhile"));
      return true;
    }
    if (found->busy()) return false;
    const core::State& state = found->state();
    using enum core::Shown;
    const core::Shown shown = core::shown(state.stage);
    if (state.attempt > before && !armed) {
      armed = true;
      late->after(start_answer_ms, [this, timed_out] {
        *timed_out = true;
        on_change();
      });
    }
    if (shown == stopping || (shown == starting && !*timed_out)) return false;
    const bool ok = shown == running || shown == starting || shown == exited;
    answer(command_answer(name, ok ? "started" : "spawn error", ok, state.reason));
    return true;
  });
}

void Daemon::stop(const std::string& name, Answer answer) {
  find(name)->handle(core::StopRequested{"operator"});
  waiters_.emplace_back([this, name, answer = std::move(answer)] {
    if (!answer.wanted()) return true;
    ProgramRunner* found = find(name);
    if (found == nullptr || found->at_rest()) {
      answer(command_answer(name, "stopped", true, found == nullptr ? "" : found->state().reason));
      return true;
    }
    if (parts_->turns.refusal() && found->at_rest_unrecorded()) {
      answer(command_answer(name, "stopped", true, refusal()));
      return true;
    }
    // This stop is on record, so a later wish has overtaken it: it may never rest.
    if (found->busy() || !found->state().wanted) return false;
    answer(command_answer(name, "started again", false,
                          "somebody asked for it to be started again while it was stopping"));
    return true;
  });
}

void Daemon::command_all(api::Verb verb, Answer answer) {
  struct Gathered {
    json::array answers;
    std::size_t missing = 0;
  };
  std::vector<std::string> names;
  for (const auto& [name, runner] : runners_) names.push_back(name);
  auto gathered = std::make_shared<Gathered>();
  gathered->answers.resize(names.size());
  gathered->missing = names.size();
  if (names.empty()) return answer(gathered->answers);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto gather = [gathered, i, name = names[i], answer](Result<json::value> one) {
      gathered->answers[i] =
          one ? std::move(*one) : command_answer(name, "no such process", false, one.error().what);
      if (--gathered->missing == 0) answer(gathered->answers);
    };
    command(names[i], verb, {gather, [answer] { return answer.wanted(); }});
  }
}

Loaded Daemon::load_again() const {
  return config::load(parts_->options.config_file, parts_->options.working_directory,
                      parts_->options.overrides);
}

Result<json::value> Daemon::reread() { return reread_answer(parts_->config, load_again()); }

void Daemon::update(Answer answer) {
  auto loaded = load_again();
  if (!loaded) return answer(reread_answer(parts_->config, loaded));
  const ProgramDiff diff = compare(parts_->config, *loaded);
  auto left = std::make_shared<std::size_t>(diff.changed.size() + diff.disappeared.size());
  parts_->config = std::move(*loaded);
  for (const config::Program& program : parts_->config.programs) {
    if (!diff.is_available(program.name)) continue;
    add_program(program);
    if (auto ok = recover(program.name); !ok) spdlog::error(ok.error().message());
  }
  auto stop_then = [this, left](const std::string& name, std::function<void(bool)> then) {
    const bool was_wanted = find(name)->state().wanted;
    find(name)->handle(core::StopRequested{"update", false});
    waiters_.emplace_back([this, name, left, was_wanted, then = std::move(then)] {
      ProgramRunner& runner = *find(name);
      if (!runner.at_rest()) {
        // Somebody has started it meanwhile.
        const bool overtaken = !runner.busy() && runner.state().wanted;
        if (overtaken) runner.handle(core::StopRequested{"update", false});
        return false;
      }
      then(was_wanted);
      --*left;
      return true;
    });
  };
  for (const std::string& name : diff.disappeared) {
    stop_then(name, [this, name](bool) {
      runners_.erase(name);
      if (auto ok = parts_->store.remove_program(name); !ok) spdlog::warn(ok.error().message());
    });
  }
  for (const std::string& name : diff.changed) {
    stop_then(name, [this, name](bool was_wanted) {
      for (const config::Program& program : parts_->config.programs) {
        if (program.name == name) add_program(program);
      }
      if (auto ok = recover(name); !ok) spdlog::error(ok.error().message());
      if (was_wanted) find(name)->handle(core::StartRequested{});
    });
  }
  waiters_.emplace_back([left, diff, answer] {
    if (*left > 0 && answer.wanted()) return false;
    answer(update_answer(diff));
    return true;
  });
  on_change();
}

Result<json::value> Daemon::reload() {
  auto loaded = load_again();
  if (!loaded) {
    return fail(ErrorKind::usage, "the configuration has errors; nothing was changed",
                loaded.error().front().text(), "`trainwardctl config check` shows them all");
  }
  reexec_soon();
  return json::object{{"result", "restarting the daemon; workers go on"},
                      {"started_ms", started_ms_}};
}

// After the answer has gone out.
void Daemon::reexec_soon() {
  auto soon = std::make_shared<Timer>(parts_->loop);
  soon->after(50, [this, soon] {
    if (shutting_down_) return;  // the end was asked for meanwhile
    reexec_ = true;
    parts_->loop.stop();
  });
}

void Daemon::upgrade(Answer answer) {
  if (successor_) {
    return answer(
        fail(ErrorKind::transient, "an upgrade is going on already", "", "ask again in a moment"));
  }
  std::vector<std::string> arguments{parts_->options.config_file.string()};
  for (const std::string& text : parts_->options.overrides) arguments.push_back("--set=" + text);
  successor_ = std::make_unique<SuccessorCheck>(
      parts_->loop, parts_->options.executable, std::move(arguments),
      [this, answer](Result<std::string> version) {
        // The object that calls this must outlive the call.
        parts_->loop.post([this] { successor_.reset(); });
        if (!version) {
          spdlog::warn("no upgrade: {}", version.error().message());
          return answer(propagate(version));
        }
        spdlog::info("upgrading from {} to {}; workers go on", version_text, *version);
        reexec_soon();
        answer(json::object{{"result", "restarting the daemon; workers go on"},
                            {"from", std::string(version_text)},
                            {"to", *version},
                            {"started_ms", started_ms_}});
      });
}

std::int64_t Daemon::longest_stop_ms() const {
  std::int64_t longest = 0;
  for (const auto& [name, runner] : runners_) {
    longest = std::max(longest, runner->program().deadlines.stop_ms);
  }
  return longest;
}

Result<json::value> Daemon::shutdown() {
  parts_->loop.post([this] {
    const auto stop = [this] {
      if (!shutting_down_) shut_down();
    };
    if (parts_->options.stop_service) return parts_->options.stop_service(stop);
    stop();
  });
  return json::object{{"result", "shutting down: workers save and exit"},
                      {"within_ms", longest_stop_ms() + end_margin_ms}};
}

void Daemon::probe(const api::ProbeRequest& request, Answer answer) {
  if (probe_) {
    return answer(
        fail(ErrorKind::transient, "a probe is running already", "", "ask again in a moment"));
  }
  ProbeOrder order{{}, {}, request.deep, request.recorded};
  for (const config::Program& program : parts_->config.programs) {
    if (!program.host && program.probe_command.empty()) continue;
    order.host = program.host;
    order.command = program.probe_command;
  }
  probe_ = probe_boards(parts_->loop, parts_->services.paths, order, parts_->store,
                        [this, answer](Result<hwprobe::Report> report) {
                          // The object that calls this must outlive the call.
                          parts_->loop.post([this] { probe_.reset(); });
                          if (!report) return answer(propagate(report));
                          answer(json::value(hwprobe::to_json(*report)));
                        });
}

Result<json::value> Daemon::status() const {
  auto rows = parts_->store.status_json(now());
  if (!rows) return propagate(rows);
  for (json::value& row : *rows) {
    const auto runner = runners_.find(string_or(row.as_object(), "name", ""));
    if (runner == runners_.end()) continue;
    std::string trouble = refusal();
    if (trouble.empty()) trouble = runner->second->trouble();
    if (!trouble.empty()) row.as_object()["trouble"] = std::move(trouble);
  }
  return json::value(std::move(*rows));
}

Result<json::value> Daemon::history(const std::string& program) const {
  if (!program.empty()) {
    if (auto ok = known(program); !ok) return propagate(ok);
  }
  return as_value(parts_->store.history_json(program));
}

Result<json::value> Daemon::why(const std::string& program,
                                std::optional<std::int64_t> attempt) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  return as_value(parts_->store.why_json(program, attempt));
}

Result<json::value> Daemon::report(const std::string& program) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  return as_value(parts_->store.report_json(program));
}

Result<json::value> Daemon::checkpoints(const std::string& program) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  return as_value(parts_->store.checkpoints_json(program));
}

Result<json::value> Daemon::evaluations(const std::string& program) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  return as_value(parts_->store.evaluations_json(program));
}

Result<json::value> Daemon::compiled(const std::string& program) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  return as_value(parts_->store.compiled_json(program));
}

Result<json::value> Daemon::events(const std::string& program, std::int64_t after) const {
  constexpr int most = 1'000;
  return as_value(parts_->store.events_json(program, after, most));
}

Result<json::value> Daemon::last_probe() const { return as_value(parts_->store.probe_json()); }

Result<json::value> Daemon::boards() const { return as_value(parts_->store.boards_json()); }

Result<json::value> Daemon::board_samples(const std::string& serial, std::int64_t after_ms,
                                          std::int64_t limit) const {
  return as_value(parts_->store.board_samples_json(serial, after_ms, static_cast<int>(limit)));
}

Result<api::LogSlice> Daemon::log(const std::string& program, const std::string& stream,
                                  std::optional<std::int64_t> attempt, std::int64_t offset,
                                  std::int64_t limit) const {
  if (auto ok = known(program); !ok) return propagate(ok);
  if (stream != "stdout" && stream != "stderr") {
    return fail(ErrorKind::usage, "no such stream", stream, "stdout or stderr");
  }
  api::LogSlice slice;
  slice.attempt = attempt.value_or(runners_.at(program)->state().attempt);
  const auto file =
      parts_->services.paths.attempt(program, slice.attempt) /
      (stream == "stdout" ? attempt_files::standard_output : attempt_files::standard_error);
  auto range = read_log(file, offset, limit);
  if (!range) return propagate(range);
  slice.size = range->end;
  slice.offset = range->begin;
  slice.bytes = std::move(range->bytes);
  return slice;
}

}  // namespace trainward::daemon
