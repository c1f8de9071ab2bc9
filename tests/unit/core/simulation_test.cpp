// The core in a world that misbehaves at random, with its promises checked after every event.

#include <gtest/gtest.h>

#include <random>

#include "world.hpp"

namespace trainward::core {
namespace {

// Feeds what a real shell could feed in this stage, and now and then what it could not.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed) {
    world_.policy.needs_board = chance(2);
    world_.policy.deadlines.train_floor_ms = 1'000;
    world_.policy.budgets.attempts_without_progress = 50;
    world_.feed(StartRequested{});
    check();
  }

  void turn() {
    const Stage stage = world_.state.stage;
    if (chance(200)) {
      feed(StopRequested{"operator", chance(2)});
    } else if (chance(50) || stage == Stage::exited || stage == Stage::fatal ||
               stage == Stage::stopped) {
      feed(chance(2) ? Event(StartRequested{}) : Event(RestartRequested{}));
    } else if (chance(40)) {
      feed(TimerFired{}, 100'000);
    } else if (chance(60)) {
      feed(WorkerExited{});  // out of place, or a worker that vanished
    } else if (stage == Stage::probing) {
      feed(ProbeFinished{{{"A", "REMOTE_LOST", false, "down"}, {"B", "OK", !chance(4), "down"}},
                         chance(20) ? "timed out" : ""});
    } else if (stage == Stage::selecting) {
      feed(CheckpointSelected{disk_ > 0 ? "/c/step" : "", disk_, ""});
      step_ = world_.state.last_step;
    } else if (stage == Stage::launching) {
      feed(chance(20) ? Event(LaunchFailed{"no memory", true}) : Event(WorkerStarted{1}));
    } else if (stage == Stage::starting || stage == Stage::loading) {
      feed(PhaseEntered{"train"}, 20);
    } else if (stage == Stage::training) {
      train();
    } else if (stage == Stage::backoff) {
      feed(TimerFired{}, 1'000);
    } else if (has_worker(stage)) {
      feed(WorkerExited{1, {}, {}, 0}, 10);
    }
  }

  [[nodiscard]] const World& world() const { return world_; }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  void feed(const Event& event, std::int64_t after = 1) {
    world_.feed(event, after);
    check();
  }

  void train() {
    if (chance(25)) return feed(WorkerExited{1, {}, {{"r", "device_oom", 60, "OOM", ""}}, 0});
    feed(StepDone{++step_, 2.0, 1.0, step_ * 8, 100}, 10);
    if (step_ % 10 != 0) return;
    disk_ = step_;
    feed(CheckpointReported{"/c/step", disk_});
    feed(CheckpointVerified{world_.state.attempt, "/c/step", disk_, 1, ""});
  }

  void check() {
    const State& s = world_.state;
    // Never two workers: between two launches lies the end of the first attempt.
    for (const Action& action : world_.last) {
      if (std::holds_alternative<Launch>(action)) {
        ASSERT_EQ(open_, 0) << "a second worker";
        ++open_;
        ASSERT_EQ(std::get<Launch>(action).resume_from.empty(), disk_ == 0);
        ASSERT_EQ(s.resume_step, disk_) << "resumed from an older checkpoint than the newest";
      }
      if (std::holds_alternative<RecordAttemptEnded>(action)) {
        ASSERT_EQ(open_, 1);
        --open_;
      }
      if (const auto* span = std::get_if<RecordSpan>(&action)) {
        ASSERT_GE(span->begin_wall_ms, booked_until_) << "a second booked twice";
        booked_until_ = span->begin_wall_ms + span->duration_ms;
        booked_ += span->duration_ms;
      }
    }
    ASSERT_EQ(has_worker(s.stage), open_ == 1);
    ASSERT_EQ(s.span.has_value(), display(s.stage) != "STOPPED" && display(s.stage) != "EXITED" &&
                                      display(s.stage) != "FATAL")
        << to_string(s.stage);
    ASSERT_LE(s.kept_step, s.highest_step);
    if (has_worker(s.stage) || s.stage == Stage::backoff) {
      ASSERT_GT(s.deadline_mono_ms, 0) << "nothing would ever end " << to_string(s.stage);
    }
    auto again = state_from_json(to_json(s));
    ASSERT_TRUE(again.has_value() && *again == s) << "the state does not survive the database";
  }

  std::mt19937_64 random_;
  World world_;
  int open_ = 0;
  std::int64_t step_ = 0;
  std::int64_t disk_ = 0;  // newest verified checkpoint
  std::int64_t booked_until_ = 0;
  std::int64_t booked_ = 0;
};

TEST(Simulation, PromisesHoldAfterEveryEvent) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chaos chaos(seed);
    for (int i = 0; i < 2'000 && !::testing::Test::HasFatalFailure(); ++i) chaos.turn();
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_GT(chaos.world().state.highest_step, 0);
  }
}

TEST(Simulation, TheSameEventsGiveTheSameState) {
  Chaos first(7);
  Chaos second(7);
  for (int i = 0; i < 1'000; ++i) {
    first.turn();
    second.turn();
  }
  EXPECT_EQ(first.world().state, second.world().state);
}

}  // namespace
}  // namespace trainward::core
