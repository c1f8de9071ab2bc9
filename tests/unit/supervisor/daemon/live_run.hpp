// A run as a daemon records it, with a worker that the test plays: its journal and its launch files
// are on disk, everything else answers at once.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "common/os/clock.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/launch.hpp"
#include "fake_clock.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/daemon/attempt/journal_file.hpp"
#include "supervisor/daemon/records/recorder.hpp"
#include "supervisor/daemon/records/recovery.hpp"
#include "supervisor/daemon/records/store_database.hpp"
#include "supervisor/decide/session/session.hpp"

namespace trainward::daemon {

class LiveRun final : private session::Hands, private session::Shim {
 public:
  // What records beside, or before, its own records.
  using Wrap =
      std::function<session::Records&(Recorder&, const std::function<const core::State&()>&)>;

  LiveRun(store::Store& store, const Paths& paths, const config::Program& program,
          const Wrap& wrap = {})
      : paths_(paths),
        program_(program),
        database_(store),
        recorder_(store, paths, program),
        turns_(turns_clock_, database_),
        session_(
            {turns_, clock_,
             wrap ? wrap(recorder_, [this]() -> const core::State& { return session_.state(); })
                  : recorder_,
             *this, *this},
            config::policy_of(program)) {}

  void start(std::optional<Time> at = {}) {
    if (at) time_ = *at;
    session_.begin(true);
    run();
  }
  // As a new daemon, at `at`; the worker of `attempt` lives on, or it is 0.
  Status recover(Stored stored, Time at, std::int64_t attempt) {
    time_ = at;
    worker_ = attempt;
    if (auto ok = recorder_.recover(stored.state.attempt, stored.boot_id); !ok) return ok;
    session_.recover(std::move(stored.state), stored.counted, false);
    run();
    return {};
  }
  // Time goes by, and timers with it.
  void pass(std::int64_t ms) {
    const MonoTime until = time_.mono + ms;
    for (;;) {
      const MonoTime due = std::min(clock_.due_or(until), turns_clock_.due_or(until));
      advance(std::max<std::int64_t>(due - time_.mono, 0));
      run();
      if (due >= until) break;
    }
    advance(until - time_.mono);
  }
  void pass_deadline() { pass(clock_.due_or(MonoTime{INT64_MAX}) - time_.mono); }
  // A record of the newest attempt's journal.
  void write(const std::string& type, const std::string& fields) {
    std::ofstream(paths_.attempt(program_.name, worker_) / attempt_files::journal, std::ios::app)
        << fmt::format("{{\"seq\":{},\"wall_ms\":{},\"mono_ms\":{},\"type\":\"{}\",{}}}\n",
                       ++sequence_, time_.wall.ms, time_.mono.ms, type, fields);
    session_.journal_grew();
    run();
    if (recorded) recorded();
  }
  void say(const std::string& fields) { write("message", "\"fields\":{" + fields + "}"); }
  void started() {
    write("started", fmt::format(R"("version":2,"nonce":"{}","pid":{},"shim_pid":999999,)"
                                 R"("shim_start_ticks":1,"boot_id":"{}")",
                                 recorder_.attempt().nonce, 400 + worker_, boot_id()));
  }
  void step(std::int64_t step) {
    say(fmt::format(R"("STEP":"{}","LOSS":"2.5","TOKENS":"10")", step));
  }
  void save(std::int64_t step) {
    const auto folder = paths_.checkpoints(program_.name) / fmt::format("step-{:08}", step);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "model") << "weights";
    newest_ = {folder.string(), step, ""};
    say(fmt::format(R"("CHECKPOINT":"{}","CHECKPOINT_STEP":"{}")", folder.string(), step));
  }
  void end(const std::string& how) {
    write("exited", how);
    worker_ = 0;
    session_.shim_ended();
    run();
  }
  [[nodiscard]] const core::State& state() const { return session_.state(); }

  [[nodiscard]] Time time() const { return time_; }
  [[nodiscard]] std::int64_t worker() const {
    return worker_;
  }  // the attempt that has one; 0: none
  StoreDatabase& database() { return database_; }

  core::ProbeFinished offer{{{"A", "OK", true, ""}}, ""};  // what each look finds
  json::object mesh;                                       // as launch files have it; empty: none
  std::function<void()> recorded;  // called after each record of a journal, when it is committed

 private:
  // Of the attempt that the session is about.
  [[nodiscard]] session::Found found() const {
    if (worker_ == 0) return session::Found::gone;
    return worker_ == session_.newest().attempt ? session::Found::lives : session::Found::starting;
  }
  void advance(std::int64_t ms) {
    time_.wall += ms;
    time_.mono += ms;
  }
  void run() {
    do {
      clock_.run();
    } while (turns_clock_.ring());
  }
  void answer(core::Event event) {
    clock_.soon([this, event = std::move(event)] { session_.handle(event); });
  }

  void probe() override { answer(offer); }
  void repair(const core::Repair& order) override { answer(core::Repaired{order.repair}); }
  void select(const core::SelectCheckpoint& /*order*/) override {
    if (worker_ > 0) return answer(core::NotReady{"the lease is held"});
    answer(newest_);
  }
  void verify(const core::VerifyCheckpoint& order) override {
    answer(core::CheckpointVerified{order.attempt, order.path, order.step, 7, ""});
  }
  void prune() override {}
  void check_activity() override {}
  void find_unjudged(std::int64_t /*attempt*/) override { session_.unjudged({}); }
  Status launch(const core::Launch& order) override {
    EXPECT_EQ(worker_, 0) << "two at a time";
    worker_ = order.attempt;
    LaunchSpec spec;
    spec.run = program_.name;
    spec.attempt = order.attempt;
    spec.nonce = recorder_.attempt().nonce;
    spec.argv = {"worker"};
    spec.environment[env::resume_from] = order.resume_from;
    json::object plan = core::to_json(order.plan);
    if (!order.board.empty()) plan["board"] = json::object{{"serial", order.board}};
    if (!mesh.empty()) plan["mesh"] = mesh;
    spec.environment[env::plan] = json::serialize(plan);
    const auto folder = paths_.attempt(program_.name, order.attempt);
    EXPECT_TRUE(std::filesystem::create_directories(folder)) << folder << " was somebody's already";
    const auto file = folder / attempt_files::launch;
    std::ofstream(file) << to_json_text(spec);
    const timespec when{time_.wall.ms / 1'000, time_.wall.ms % 1'000 * 1'000'000};
    const timespec times[] = {when, when};
    ::utimensat(AT_FDCWD, file.c_str(), times, 0);
    journal_.emplace(program_.name, order.attempt, folder, paths_.checkpoints(program_.name),
                     recorder_.attempt().nonce);
    return {};
  }
  void follow(std::int64_t attempt) override {
    journal_.emplace(program_.name, attempt, paths_.attempt(program_.name, attempt),
                     paths_.checkpoints(program_.name), recorder_.attempt().nonce);
  }
  session::JournalPiece read(std::int64_t offset) override {
    return journal_->read(offset, 64 * 1024);
  }
  session::Found find() override { return found(); }
  session::Found signal(core::Signal /*signal*/) override { return found(); }
  std::string last_words() override { return {}; }
  void look_back(bool /*logs*/) override {
    clock_.soon([this] { session_.looked_back({}); });
  }

  const Paths& paths_;
  const config::Program& program_;
  Time time_{1'767'225'600'000, 90'000'000};
  session::FakeClock::Posts posts_;
  session::FakeClock clock_{time_, posts_};
  session::FakeClock turns_clock_{time_, posts_};
  std::int64_t worker_ = 0;
  int sequence_ = 0;
  core::CheckpointSelected newest_;
  std::optional<JournalFile> journal_;
  StoreDatabase database_;
  Recorder recorder_;
  session::Turns turns_;
  session::Session session_;
};

}  // namespace trainward::daemon
