// A run as a daemon records it, with a worker that the test plays: its journal and its launch files
// are on disk, everything else answers at once.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <deque>
#include <fstream>
#include <string>
#include <utility>

#include "common/os/clock.hpp"
#include "common/protocol/protocol.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/config/policy.hpp"
#include "supervisor/daemon/attempt/journal_file.hpp"
#include "supervisor/daemon/records/recorder.hpp"
#include "supervisor/daemon/records/store_database.hpp"
#include "supervisor/session/session.hpp"

namespace trainward::daemon {

class LiveRun final : private session::Clock, private session::Hands, private session::Shim {
 public:
  LiveRun(store::Store& store, const Paths& paths, const config::Program& program)
      : paths_(paths),
        program_(program),
        database_(store),
        recorder_(store, paths, program),
        turns_(*this, database_),
        session_({turns_, *this, recorder_, *this, *this}, config::policy_of(program)) {}

  void start() {
    session_.begin(true);
    run();
  }
  // Time goes by, and timers with it.
  void pass(std::int64_t ms) {
    const MonoTime until = time_.mono + ms;
    while (alarm_ && due_ <= until) {
      advance(std::max<std::int64_t>(due_ - time_.mono, 0));
      std::exchange(alarm_, nullptr)();
      run();
    }
    advance(until - time_.mono);
  }
  void pass_deadline() { pass(due_ - time_.mono); }
  // A record of the newest attempt's journal.
  void write(const std::string& type, const std::string& fields) {
    std::ofstream(folder() / attempt_files::journal, std::ios::app)
        << fmt::format("{{\"seq\":{},\"wall_ms\":{},\"mono_ms\":{},\"type\":\"{}\",{}}}\n",
                       ++sequence_, time_.wall.ms, time_.mono.ms, type, fields);
    session_.journal_grew();
    run();
  }
  void say(const std::string& fields) { write("message", "\"fields\":{" + fields + "}"); }
  void started() {
    write("started", fmt::format(R"("version":2,"nonce":"n","pid":{},"shim_pid":999999,)"
                                 R"("shim_start_ticks":1,"boot_id":"{}")",
                                 400 + state().attempt, boot_id()));
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
    session_.shim_ended();
    run();
  }
  [[nodiscard]] const core::State& state() const { return session_.state(); }

 private:
  [[nodiscard]] std::filesystem::path folder() const {
    return paths_.attempt(program_.name, state().attempt);
  }
  void advance(std::int64_t ms) {
    time_.wall += ms;
    time_.mono += ms;
  }
  void run() {
    while (!posts_.empty()) {
      const auto work = std::move(posts_.front());
      posts_.pop_front();
      work();
    }
  }
  void answer(core::Event event) {
    soon([this, event = std::move(event)] { session_.handle(event); });
  }

  [[nodiscard]] Time now() const override { return time_; }
  void soon(std::function<void()> work) override { posts_.push_back(std::move(work)); }
  void at(MonoTime when, std::function<void()> work) override {
    due_ = when;
    alarm_ = std::move(work);
  }
  void cancel() override { alarm_ = nullptr; }

  void probe() override { answer(core::ProbeFinished{{{"A", "OK", true, ""}}, ""}); }
  void repair(const core::Repair& order) override { answer(core::Repaired{order.repair}); }
  void select(const core::SelectCheckpoint& /*order*/) override { answer(newest_); }
  void verify(const core::VerifyCheckpoint& order) override {
    answer(core::CheckpointVerified{order.attempt, order.path, order.step, 7, ""});
  }
  void prune() override {}
  void check_activity() override {}
  void find_unjudged(std::int64_t /*attempt*/) override { session_.unjudged({}); }
  void clear() override {
    soon([this] { session_.cleared({}); });
  }
  Status launch(const core::Launch& order) override {
    LaunchSpec spec;
    spec.run = program_.name;
    spec.attempt = order.attempt;
    spec.nonce = recorder_.attempt().nonce;
    spec.argv = {"worker"};
    spec.environment[env::resume_from] = order.resume_from;
    json::object plan = core::to_json(order.plan);
    if (!order.board.empty()) plan["board"] = json::object{{"serial", order.board}};
    spec.environment[env::plan] = json::serialize(plan);
    std::filesystem::create_directories(folder());
    const auto file = folder() / attempt_files::launch;
    std::ofstream(file) << to_json_text(spec);
    const timespec when{time_.wall.ms / 1'000, time_.wall.ms % 1'000 * 1'000'000};
    const timespec times[] = {when, when};
    ::utimensat(AT_FDCWD, file.c_str(), times, 0);
    journal_.emplace(program_.name, order.attempt, folder(), paths_.checkpoints(program_.name));
    return {};
  }
  void follow(std::int64_t /*attempt*/) override {}
  session::JournalPiece read(std::int64_t offset) override {
    return journal_->read(offset, 64 * 1024);
  }
  session::Found find() override { return session::Found::gone; }
  session::Found signal(core::Signal /*signal*/) override { return session::Found::lives; }
  std::string last_words() override { return {}; }
  void look_back(bool /*logs*/) override {
    soon([this] { session_.looked_back({}); });
  }

  const Paths& paths_;
  const config::Program& program_;
  Time time_{1'767'225'600'000, 90'000'000};
  std::deque<std::function<void()>> posts_;
  MonoTime due_;
  std::function<void()> alarm_;
  int sequence_ = 0;
  core::CheckpointSelected newest_;
  std::optional<JournalFile> journal_;
  StoreDatabase database_;
  Recorder recorder_;
  session::Turns turns_;
  session::Session session_;
};

}  // namespace trainward::daemon
