// A world of one program behind the session's ports: everything that is asked of it is written
// down, in its order, and nothing is answered before the test says so.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fake_clock.hpp"
#include "supervisor/decide/session/session.hpp"

namespace trainward::session {

// Everything that outlives a daemon, and the list of what it was asked for.
struct World {
  Time time{1'000'000, 50'000};
  std::vector<std::string> asked;  // "commit", "select", "launch 1", "signal kill", …
  bool refuses = false;
  bool refuses_for_good = false;
  std::optional<Error> refuses_rows;

  // ---- the database ----
  core::State state;
  JournalPlace place;
  std::vector<Happening> recorded;
  core::Actions actions;  // of all that was recorded

  // ---- the attempt ----
  std::vector<Happening> journal;  // an exit among them is its ending
  std::size_t piece = 1'000;       // records
  Found found = Found::lives;
  bool launch_fails = false;

  void say(core::Event event) { journal.push_back({std::move(event), time}); }
  void pass(std::int64_t ms) {
    time.wall += ms;
    time.mono += ms;
  }
  [[nodiscard]] int times(const std::string& what) const {
    return static_cast<int>(std::count(asked.begin(), asked.end(), what));
  }
  template <typename A>
  [[nodiscard]] std::vector<A> all() const {
    std::vector<A> found_actions;
    for (const core::Action& action : actions) {
      if (const auto* one = std::get_if<A>(&action)) found_actions.push_back(*one);
    }
    return found_actions;
  }
  template <typename E>
  [[nodiscard]] std::vector<Happening> heard() const {
    std::vector<Happening> of_it;
    for (const Happening& what : recorded) {
      if (std::holds_alternative<E>(what.event)) of_it.push_back(what);
    }
    return of_it;
  }
};

// Thrown by a port that is told to: the daemon is killed there.
struct Killed {};

// A daemon of this world, from its start to its end.
class FakeDaemon final : private Database, private Records, private Hands, private Shim {
 public:
  explicit FakeDaemon(World& world)
      : w_(world), clock_(world.time, posts_), retry_(world.time, posts_), turns_(retry_, *this) {
    policy.needs_board = false;
    session_.emplace(Ports{turns_, clock_, *this, *this, *this}, policy);
  }
  Session& session() { return *session_; }
  Turns& turns() { return turns_; }

  void run() {
    do {
      clock_.run();
    } while (retry_.ring());
  }
  void tell(core::Event event) {
    session_->handle(std::move(event));
    run();
  }
  void hear() {
    session_->journal_grew();
    run();
  }
  void pass(std::int64_t ms) {
    w_.pass(ms);
    run();
  }
  // From nothing to a worker that trains, and has finished a step.
  void train() {
    session_->begin(true);
    run();
    tell(core::CheckpointSelected{});
    w_.say(core::WorkerStarted{41});
    w_.say(core::PhaseEntered{"train"});
    w_.say(core::StepDone{1, 2.0, 1.0, {}, 100, 10});
    hear();
  }
  void recover(bool machine_restarted = false) {
    session_->recover(w_.state, w_.place.offset, machine_restarted);
    run();
  }

  core::Policy policy;
  std::string dies_at;  // an entry of World::asked

 private:
  void ask(std::string what) {
    w_.asked.push_back(std::move(what));
    if (!dies_at.empty() && w_.asked.back() == dies_at) throw Killed{};
  }

  // ---- Database ----
  Status transact(Survives /*survives*/, const std::function<Status()>& write) override {
    open_.clear();
    if (auto written = write(); !written) return written;
    if (w_.refuses)
      return fail(w_.refuses_for_good ? ErrorKind::corrupt : ErrorKind::transient, "no");
    for (auto& [what, actions] : open_) {
      w_.recorded.push_back(what);
      w_.actions.insert(w_.actions.end(), actions.begin(), actions.end());
    }
    w_.state = open_state_;
    if (open_place_) w_.place = *open_place_;
    ask("commit");
    return {};
  }
  void is_unfit(const Error& /*why*/) override { ask("unfit"); }
  // ---- Records ----
  Status record(const Happening& what, const core::State& /*state*/,
                std::span<const core::Action> actions) override {
    if (w_.refuses_rows) return tl::unexpected<Error>(*w_.refuses_rows);
    open_.emplace_back(what, core::Actions(actions.begin(), actions.end()));
    return {};
  }
  Status save(const core::State& state, Time /*at*/, std::optional<JournalPlace> read) override {
    open_state_ = state;
    open_place_ = read;
    return {};
  }
  void settle(bool /*committed*/) override {}
  // ---- Hands ----
  void probe() override { ask("probe"); }
  void repair(const core::Repair& /*order*/) override { ask("repair"); }
  void select(const core::SelectCheckpoint& /*order*/) override { ask("select"); }
  void verify(const core::VerifyCheckpoint& order) override { ask("verify " + order.path); }
  void prune() override { ask("prune"); }
  void check_activity() override { ask("activity"); }
  void find_unjudged(std::int64_t /*attempt*/) override { ask("unjudged"); }
  // ---- Shim ----
  Status launch(const core::Launch& order) override {
    ask(fmt::format("launch {}", order.attempt));
    w_.journal.clear();
    if (w_.launch_fails) return fail(ErrorKind::transient, "no process");
    return {};
  }
  void follow(std::int64_t /*attempt*/) override {}
  JournalPiece read(std::int64_t offset) override {
    JournalPiece piece;
    auto next = static_cast<std::size_t>(offset);
    const std::size_t end = std::min(w_.journal.size(), next + w_.piece);
    for (; next < end; ++next) {
      const Happening& what = w_.journal[next];
      if (std::holds_alternative<core::WorkerExited>(what.event)) {
        piece.ending = what;
        piece.ending_offset = static_cast<std::int64_t>(next);
      } else {
        piece.said.push_back(what);
      }
    }
    piece.next_offset = static_cast<std::int64_t>(next);
    piece.more = next < w_.journal.size();
    return piece;
  }
  Found find() override {
    ask("find");
    return w_.found;
  }
  Found signal(core::Signal signal) override {
    ask(signal == core::Signal::kill ? "signal kill" : "signal terminate");
    return w_.found;
  }
  std::string last_words() override { return {}; }
  void look_back(bool /*logs*/) override { ask("look back"); }

  World& w_;
  FakeClock::Posts posts_;
  FakeClock clock_;
  FakeClock retry_;
  Turns turns_;
  std::vector<std::pair<Happening, core::Actions>> open_;
  core::State open_state_;
  std::optional<JournalPlace> open_place_;
  std::optional<Session> session_;
};

inline core::WorkerExited exited_with(int code) {
  core::WorkerExited exit;
  exit.code = code;
  return exit;
}

}  // namespace trainward::session
