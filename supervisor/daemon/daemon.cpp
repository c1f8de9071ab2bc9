#include "supervisor/daemon/daemon.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "common/base/version.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/os/log.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/launch.hpp"
#include "common/wire/log_files.hpp"
#include "supervisor/daemon/boards/lease.hpp"
#include "supervisor/daemon/daemon_parts.hpp"
#include "supervisor/daemon/records/rebuild.hpp"
#include "supervisor/daemon/records/run_database.hpp"
#include "supervisor/daemon/service/status_words.hpp"
#include "supervisor/decide/core/exit_codes.hpp"
#include "supervisor/evidence/rules/log_matcher.hpp"
#include "supervisor/record/store/damaged_file.hpp"
#include "supervisor/window/api/routes/routes.hpp"
#include "supervisor/window/page/serve/pages.hpp"

namespace trainward::daemon {
namespace {

constexpr const char* lock_name = "trainwardd.lock";

json::object loop_json(const LoopLatency::Figures& figures) {
  return {{"samples", figures.samples},
          {"latency_ms", json::object{{"last_minute_max", figures.last_minute_max_ms},
                                      {"p50", figures.p50_ms},
                                      {"p99", figures.p99_ms},
                                      {"max", figures.max_ms}}}};
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(Loop& loop, Options options, config::Config config) {
  if (auto made = make_folders(config.state_dir); !made) return propagate(made);
  auto lock = take_lease(config.state_dir / lock_name);
  if (!lock) {
    if (lock.error().kind == ErrorKind::transient) {
      return fail(
          ErrorKind::transient, "another trainwardd works in this state folder",
          config.state_dir.string(),
          "talk to it with `trainwardctl status`, or end it with `trainwardctl shutdown`; for a "
          "second one beside it: --set state_dir=.trainward-2");
    }
    return propagate(lock);
  }
  auto database = open_run_database(config.database);
  if (!database) return propagate(database);
  Paths paths{config.state_dir, program_folder()};
  std::unique_ptr<Daemon> daemon(new Daemon(
      std::make_unique<Parts>(loop, std::move(options), std::move(config), std::move(*lock),
                              std::move(database->store), std::move(paths))));
  daemon->damaged_ = std::move(database->set_aside);
  return daemon;
}

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Daemon::Daemon(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)),
      started_ms_(now().wall.ms),
      launch_files_(parts_->background, parts_->services.paths),
      state_folder_(std::make_unique<StateFolder>(
          parts_->loop, parts_->lock.get(), parts_->config.state_dir / lock_name,
          [this](const Error& error) { on_state_lost(error); })),
      courier_(parts_->loop, parts_->background, parts_->services.paths, parts_->store,
               parts_->news),
      access_(keys_of(parts_->config.listening), [] { return now().mono.ms; }) {}
Daemon::~Daemon() = default;

Status Daemon::start() {
  if (auto rules = parts_->crash_rules.check(); !rules) return rules;
  auto booted = parts_->store.boot_id();
  if (!booted) return propagate(booted);
  if (!*booted) {
    if (auto ok = rebuild_database(); !ok) return ok;
  }
  const std::string before = booted->value_or("");
  machine_restarted_ = started_since(before);
  // What could not be read takes no place.
  const std::string boot = boot_id().empty() ? before : boot_id();
  if (auto noted = parts_->store.put_boot_id(boot, now().wall.ms); !noted) return noted;
  reader_ = std::make_unique<api::Reader>(
      parts_->config.database,
      [&loop = parts_->loop](std::function<void()> work) { loop.post(std::move(work)); });
  feed_ = std::make_unique<api::Feed>(
      parts_->loop.context(), *reader_, api::Feed::Greeting{started_ms_, std::string(version_text)},
      [this](json::array& programs) { api::add_trouble(*this, programs); }, api::Feed::Pace{});
  parts_->store.on_commit([feed = feed_->poke(), courier = courier_.committing()] {
    feed();
    courier();
  });
  parts_->database.on_unfit([this](const Error& why) { replace_database(why); });
  if (auto news = parts_->news.begin(); !news) return news;
  KeptSockets kept =
      parts_->options.kept == nullptr ? KeptSockets{} : std::exchange(*parts_->options.kept, {});
  auto listeners = Listeners::open(parts_->loop, parts_->config.socket, parts_->config.listening,
                                   parts_->options.sockets, std::move(kept), handler());
  if (!listeners) return propagate(listeners);
  listeners_ = std::move(*listeners);
  access_.behind(parts_->config.listening.proxies);
  access_.be_at([this] { return listeners_->for_browsers(); });
  if (auto ok = recover_removed(); !ok) return ok;
  for (const config::Program& program : parts_->config.programs) {
    add_program(program);
    if (auto ok = recover(program.name, parts_->options.once); !ok) return ok;
    // A command that somebody has just typed runs, also when it was done or given up before.
    if (!parts_->options.command.empty()) find(program.name)->handle(core::StartRequested{});
  }
  machine_restarted_ = false;
  courier_.follow(parts_->config);
  return {};
}

// What would end the next daemon before it supervises, as far as it is new in the configuration and
// only this one can tell: it holds the rest. The user who has just changed it is there to read it.
Status Daemon::could_start(const config::Config& next) const {
  if (!next.rules.empty()) {
    if (auto rules = rules::LogMatcher::load(next.rules); !rules) return propagate(rules);
  }
  if (next.state_dir != parts_->services.paths.state) {
    if (auto made = make_folders(next.state_dir); !made) return made;
    if (auto lock = take_lease(next.state_dir / lock_name); !lock) return propagate(lock);
  }
  return listeners_->could_open(next.socket, next.listening);
}

void Daemon::keep_sockets() {
  if (listeners_ && parts_->options.kept != nullptr) *parts_->options.kept = listeners_->keep();
}

// Everything that is served: the API, and the page beside it.
api::Handler Daemon::handler() {
  const page::Assets assets(parts_->options.web_root);
  api::Table table(*this, *reader_);
  api::add_routes(table, *feed_);
  api::add_login_links(table, access_);
  page::add_pages(table, assets);
  access_.dress("/assets/" + assets.look().css_file);
  api::Handler all = page::with_error_pages(
      api::with_access(access_, api::make_router(table.take())), assets.look());
  return [&loop = parts_->loop, routes = std::move(all)](const api::Request& request,
                                                         api::Respond respond) {
    const Loop::Busy busy(loop);
    routes(request, std::move(respond));
  };
}

Status Daemon::recover(const std::string& name, bool begins) {
  auto recovered = find(name)->recover(machine_restarted_, begins);
  if (find(name)->state().stage == core::Stage::fatal) given_up_before_.insert(name);
  return recovered;
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
  auto rebuilt = rebuild(parts_->store, parts_->services.paths, parts_->config.programs,
                         parts_->crash_rules.reader());
  if (!rebuilt) return propagate(rebuilt);
  if (!damaged_ && rebuilt->attempts == 0) return {};
  const std::string what = fmt::format(
      "{}; {} and {} are back from the journals", damaged_.value_or("there was no run database"),
      count(rebuilt->attempts, "attempt"), count(rebuilt->steps, "step"));
  spdlog::warn("{}", what);
  parts_->news.note(notify::Kind::database,
                    damaged_ ? "the run database was damaged" : "the run database was gone", what);
  return parts_->store.add_event({0, now().wall.ms, "", 0, "database", what});
}

// It will take nothing more: the next image of this daemon makes a new one, while workers run on.
void Daemon::replace_database(const Error& why) {
  if (shutting_down_) return;
  const std::int64_t at = now().wall.ms;
  if (auto marked = store::mark_unfit(parts_->config.database, why.what, at); !marked) {
    return spdlog::error("{}; {}", why.message(), marked.error().message());
  }
  spdlog::error("{}; restarting to rebuild it from the journals", why.what);
  reexec_soon();
}

// Programs of the database that the configuration no longer names: stopped, then hidden.
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
    // Nobody wants it to run: it is not begun to be stopped.
    if (auto ok = recover(row.name, false); !ok) return ok;
    find(row.name)->handle(core::StopRequested{"configuration", false});
    waiters_.emplace_back([this, name = row.name] {
      const ProgramRunner* runner = find(name);
      if (runner != nullptr && !runner->at_rest()) return false;
      if (runner != nullptr) remove_program(name);
      return true;
    });
  }
  return {};
}

void Daemon::remove_program(const std::string& name) {
  runners_.erase(name);
  parts_->news.removed(name);
  if (auto ok = parts_->store.remove_program(name); !ok) spdlog::warn(ok.error().message());
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
  parts_->news.note(notify::Kind::state_lost, "the state folder is gone",
                    error.message() + "; the workers are stopped");
  if (!shutting_down_) shut_down();
}

void Daemon::on_change() {
  shorten_launch_files();
  // A waiter may add another, so the list is taken out first.
  auto waiting = std::exchange(waiters_, {});
  for (Waiter& waiter : waiting) {
    if (!waiter()) waiters_.push_back(std::move(waiter));
  }
  tell_status();
  const bool gave_up = gave_up_meanwhile();
  // A program that was started meanwhile is not left behind.
  if (!all_rest() || !waiters_.empty()) return departure_.reset();
  if (parts_->options.once) return leave();
  if (shutting_down_) return parts_->loop.stop();
  if (!parts_->options.fail_on_fatal || !gave_up) return;
  if (!std::exchange(failed_, true)) {
    spdlog::error(
        "nothing is running, and a program was given up: ending, as --fail-on-fatal "
        "asks for");
  }
  leave();
}

// A daemon that ends by itself may take its machine down: what is new is sent and told first.
void Daemon::leave() {
  if (departure_) return;
  const std::int64_t most_ms = parts_->options.leave_within_ms;
  if (state_lost_ || hurried_ || most_ms <= 0 || !courier_.needed()) return parts_->loop.stop();
  departure_ = std::make_unique<Departure>(
      parts_->loop, courier_, parts_->console, most_ms,
      [this](const std::vector<orders::Left::Job>& behind) { on_left(behind); });
  if (shutting_down_) departure_->within(stop_by_ - now().mono);
}

void Daemon::on_left(const std::vector<orders::Left::Job>& behind) {
  left_behind_ = !behind.empty();
  for (const orders::Left::Job& job : behind) {
    const std::string what =
        fmt::format("{} has not left this machine{}; the next start goes on with it",
                    orders::words_of(job), job.trouble.empty() ? "" : ": " + job.trouble);
    parts_->console.event("trainwardd", "left", what, now());
    spdlog::error("{}", what);
    if (auto ok = parts_->store.add_event({0, now().wall.ms, "", 0, "left", what}); !ok) {
      spdlog::warn("{}", ok.error().message());
    }
  }
  parts_->loop.stop();
}

// What an earlier daemon gave up was reported then: the person who starts this one needs time to
// look at it.
bool Daemon::gave_up_meanwhile() {
  bool meanwhile = false;
  for (const auto& [name, runner] : runners_) {
    if (runner->state().stage != core::Stage::fatal) {
      given_up_before_.erase(name);
    } else if (!given_up_before_.contains(name)) {
      meanwhile = true;
    }
  }
  return meanwhile;
}

void Daemon::tell_status() {
  if (!parts_->options.tell_status || shutting_down_) return;
  std::vector<GivenUp> given_up;
  for (const auto& [name, runner] : runners_) {
    if (runner->state().stage == core::Stage::fatal) {
      given_up.push_back({name, runner->state().history.last_cause});
    }
  }
  std::string words = status_words(runners_.size(), given_up);
  if (words == told_status_) return;
  told_status_ = std::move(words);
  parts_->options.tell_status(told_status_);
}

// What a database that refuses has not heard of, the next daemon reads in the journals.
bool Daemon::all_rest() const {
  const bool unrecorded = shutting_down_ && parts_->turns.refusal();
  return std::all_of(runners_.begin(), runners_.end(), [&](const auto& entry) {
    return entry.second->at_rest() || (unrecorded && entry.second->at_rest_unrecorded());
  });
}

void Daemon::shut_down(bool at_once) {
  hurried_ = hurried_ || at_once;
  if (!shutting_down_) stop_by_ = now().mono + longest_stop_ms();
  if (departing()) {
    shutting_down_ = true;
    return departure_->within(at_once ? 0 : stop_by_ - now().mono);
  }
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
  if (failed_) return exit_code::do_not_requeue;
  if (parts_->turns.refusal()) return exit_code::try_again;
  if (!parts_->options.once) return exit_code::done;
  int code = exit_code::done;
  for (const auto& [name, runner] : runners_) {
    code = core::worse_exit_code(code, core::exit_code_of(runner->state()));
  }
  if (code == exit_code::done && left_behind_) return exit_code::left_behind;
  return code;
}

// ---- api::Control ----

json::value Daemon::version() const {
  json::array trouble;
  if (auto refused = refusal(); !refused.empty()) trouble.emplace_back(std::move(refused));
  for (std::string& text : listeners_ ? listeners_->troubles() : std::vector<std::string>()) {
    trouble.emplace_back(std::move(text));
  }
  return json::object{{"name", "trainwardd"},
                      {"version", std::string(version_text)},
                      {"api", 1},
                      {"pid", ::getpid()},
                      {"started_ms", started_ms_},
                      {"state_dir", parts_->config.state_dir.string()},
                      {"config", parts_->config.file.string()},
                      {"listeners", listeners_ ? listeners_->addresses() : json::array()},
                      {"trouble", std::move(trouble)},
                      {"loop", loop_json(parts_->loop.latency())}};
}

json::object Daemon::courier() const { return courier_.state(); }

metrics::Live Daemon::live() const {
  metrics::Live live;
  live.version = std::string(version_text);
  live.daemon =
      metrics::DaemonFigures{started_ms_, parts_->loop.latency().last_minute_max_ms / 1000.0};
  live.folders.push_back({"state", "", parts_->config.state_dir});
  for (const auto& [name, runner] : runners_) {
    live.folders.push_back({"checkpoints", name, parts_->services.paths.checkpoints(name)});
  }
  live.courier = [folder = parts_->config.state_dir] { return courier_figures(folder); };
  return live;
}

std::string Daemon::refusal() const {
  const auto& refused = parts_->turns.refusal();
  if (!refused) return {};
  return fmt::format(
      "since {} the run database has refused what happens: {}; workers go on, stops and deadlines "
      "act, and all is recorded when it takes it again",
      iso8601(refused->since.wall), refused->error.message());
}

Status Daemon::known(const std::string& program) const {
  if (runners_.contains(program)) return {};
  return fail(ErrorKind::usage, "no such program", program,
              "`trainwardctl status` lists the programs");
}

std::int64_t Daemon::longest_stop_ms() const {
  std::int64_t longest = 0;
  for (const auto& [name, runner] : runners_) {
    longest = std::max(longest, runner->program().deadlines.stop_ms);
  }
  return longest;
}

std::string Daemon::trouble(const std::string& program) const {
  const auto runner = runners_.find(program);
  if (runner == runners_.end()) return {};
  std::string refused = refusal();
  return refused.empty() ? runner->second->trouble() : refused;
}

api::LogSlice Daemon::own_log(std::int64_t offset, std::int64_t limit) const {
  RecentLog range = recent_log(offset, limit);
  return {std::move(range.bytes), range.begin, range.end, 0};
}

}  // namespace trainward::daemon
