// Each promise can be broken, and is then found: a decider that errs in one way at a time.
#include <gtest/gtest.h>

#include <functional>

#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/shrink.hpp"
#include "supervisor/decide/sim/trace.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {
namespace {

using Damage = std::function<void(const core::Event&, core::State&, core::Actions&)>;

Decider erring(const Setup& setup, const Damage& damage) {
  Decider decider = core_decider(setup);
  decider.step = [damage](core::State& state, const core::Event& event, const core::Policy& policy,
                          Time now, core::Actions& actions) {
    core::Actions its_own;
    core::step(state, event, policy, now, its_own);
    damage(event, state, its_own);
    std::move(its_own.begin(), its_own.end(), std::back_inserter(actions));
  };
  return decider;
}

template <typename T>
T* find(core::Actions& actions) {
  for (core::Action& action : actions) {
    if (auto* found = std::get_if<T>(&action)) return found;
  }
  return nullptr;
}
template <typename T>
void drop(core::Actions& actions) {
  std::erase_if(actions, [](const core::Action& a) { return std::holds_alternative<T>(a); });
}

Trial with(Damage damage) {
  return [damage = std::move(damage)](const Scenario& scenario) {
    return play(scenario, erring(scenario.setup, damage)).violation;
  };
}

// Some seed of the scenario shows it.
std::optional<Promise> broken(const char* scenario, const Damage& damage) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    if (auto violation = with(damage)(*make_scenario(scenario, seed, 14)))
      return violation->promise;
  }
  return std::nullopt;
}

TEST(Promises, ASecondWorkerIsFound) {
  const auto found =
      broken("calm", [](const core::Event& event, core::State& state, core::Actions& actions) {
        const auto* step = std::get_if<core::StepDone>(&event);
        if (step == nullptr || step->step != Step{5}) return;
        state.stage = core::Stage::launching;
        actions.emplace_back(
            core::Launch{state.attempt, state.boards.board, state.current.resume_from});
      });
  EXPECT_EQ(found, Promise::one_worker);
}

TEST(Promises, AForgottenBudgetIsFound) {
  const auto found =
      broken("n300-port", [](const core::Event&, core::State& state, core::Actions& actions) {
        state.history.attempts_without_progress = 0;
        state.history.time_without_progress_ms = 0;
        drop<core::VerifyCheckpoint>(actions);  // so that no attempt makes progress
      });
  EXPECT_EQ(found, Promise::budget);
}

TEST(Promises, AnOlderCheckpointIsFound) {
  const auto found =
      broken("leaky-host", [](const core::Event&, core::State& state, core::Actions& actions) {
        if (auto* launch = find<core::Launch>(actions);
            launch != nullptr && state.current.resume_step) {
          launch->resume_from.clear();
          state.current.resume_step = {};
        }
      });
  EXPECT_EQ(found, Promise::newest);
}

TEST(Promises, GoingBackWithoutAReasonIsFound) {
  const auto found =
      broken("leaky-host", [](const core::Event&, core::State&, core::Actions& actions) {
        if (auto* select = find<core::SelectCheckpoint>(actions)) select->below = {1};
      });
  EXPECT_EQ(found, Promise::newest);
}

TEST(Promises, ALostSecondIsFound) {
  const auto found =
      broken("leaky-host", [](const core::Event&, core::State&, core::Actions& actions) {
        if (auto* span = find<core::RecordSpan>(actions)) span->duration_ms += second_ms;
      });
  EXPECT_EQ(found, Promise::ledger);
}

TEST(Promises, AStateThatDoesNotReadBackIsFound) {
  const auto found = broken("calm", [](const core::Event&, core::State& state, core::Actions&) {
    state.history.last_loss = std::numeric_limits<double>::quiet_NaN();
  });
  EXPECT_EQ(found, Promise::round_trip);
}

TEST(Promises, AMissingTimerIsFound) {
  const auto found = broken("calm", [](const core::Event&, core::State& state, core::Actions&) {
    if (state.stage == core::Stage::compiling) state.watch.deadline_mono_ms.reset();
  });
  EXPECT_EQ(found, Promise::timer);
}

TEST(Promises, AnAnswerThatNeverComesIsFound) {
  const auto found =
      broken("leaky-host", [](const core::Event&, core::State&, core::Actions& actions) {
        drop<core::SelectCheckpoint>(actions);
      });
  EXPECT_EQ(found, Promise::timer);
}

TEST(Promises, ALaunchAfterAStopIsFound) {
  const auto found =
      broken("chaos", [](const core::Event& event, core::State& state, core::Actions&) {
        if (std::holds_alternative<core::StopRequested>(event)) state.wanted = true;
      });
  EXPECT_EQ(found, Promise::stays_stopped);
}

TEST(Promises, AFalseKillIsFound) {
  const auto found =
      broken("calm", [](const core::Event& event, core::State& state, core::Actions& actions) {
        const auto* step = std::get_if<core::StepDone>(&event);
        if (step == nullptr || step->step != Step{5}) return;
        state.current.kill = core::Kill{core::Cause::hang, "out of impatience"};
        actions.emplace_back(core::SendSignal{core::Signal::kill});
      });
  EXPECT_EQ(found, Promise::no_false_kill);
}

TEST(Promises, AQuarantinedBoardThatIsUsedIsFound) {
  const auto found =
      broken("flaky-ethernet", [](const core::Event& event, core::State&, core::Actions& actions) {
        const auto* probe = std::get_if<core::ProbeFinished>(&event);
        if (auto* record = find<core::RecordBoard>(actions)) {
          record->record.quarantined_until_wall_ms = {4'000'000'000'000};
        }
        static std::string first;
        if (probe != nullptr && !probe->boards.empty()) first = probe->boards.back().serial;
        if (auto* launch = find<core::Launch>(actions); launch != nullptr && !first.empty()) {
          launch->board = "B";
        }
      });
  EXPECT_EQ(found, Promise::quarantine);
}

TEST(Promises, AnEndThatBarsSeveralBoardsIsFound) {
  const Trial trial = with([](const core::Event&, core::State&, core::Actions& actions) {
    for (core::Action& action : actions) {
      auto* board = std::get_if<core::RecordBoard>(&action);
      if (board != nullptr) board->record.quarantined_until_wall_ms = {4'000'000'000'000};
    }
  });
  std::string what;
  for (std::uint64_t seed = 1; seed <= 8 && what.empty(); ++seed) {
    const auto violation = trial(*make_scenario("mesh", seed, 14));
    if (violation && violation->promise == Promise::quarantine) what = violation->what;
  }
  EXPECT_NE(what.find("goes there as another does"), std::string::npos) << what;
}

TEST(Promises, ResumingFromTheTroubleIsFound) {
  const auto found =
      broken("nan", [](const core::Event& event, core::State& state, core::Actions&) {
        if (std::holds_alternative<core::CheckpointSelected>(event) && state.history.trouble_step) {
          state.current.resume_step = state.history.trouble_step;
        }
      });
  EXPECT_EQ(found, Promise::rollback);
}

TEST(Promises, AStepCountedTwiceIsFound) {
  const auto found = broken("calm", [](const core::Event&, core::State&, core::Actions& actions) {
    if (const auto* step = find<core::RecordStep>(actions))
      actions.emplace_back(core::RecordStep(*step));
  });
  EXPECT_EQ(found, Promise::counted_once);
}

TEST(Promises, AnAttemptThatNeverEndsIsFound) {
  const auto found =
      broken("leaky-host", [](const core::Event&, core::State&, core::Actions& actions) {
        drop<core::RecordAttemptEnded>(actions);
      });
  EXPECT_EQ(found, Promise::attempts);
}

TEST(Promises, ARunThatNoLongerMovesIsFound) {
  Scenario quiet = *make_scenario("calm", 1, 14);
  quiet.setup.quiet_ms = day_ms;
  const auto violation = with([](const core::Event&, core::State&, core::Actions& actions) {
    drop<core::VerifyCheckpoint>(actions);
  })(quiet);
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->promise, Promise::alive);
}

// The bug: a hang is not killed a second time. Found in chaos, shown by the two faults that matter.
TEST(Shrink, LeavesTheFaultsThatMatter) {
  const Trial trial = with([](const core::Event& event, core::State& state, core::Actions&) {
    // A daemon that dies forgets what the operator wanted.
    if (std::holds_alternative<core::DaemonStarted>(event) && state.attempt > 0)
      state.wanted = true;
  });
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Scenario scenario = *make_scenario("chaos", seed, 14);
    const auto violation = trial(scenario);
    if (!violation || violation->promise != Promise::stays_stopped) continue;
    const Scenario small = shrink(scenario, Promise::stays_stopped, trial);
    EXPECT_LE(small.injections.size(), 3U) << to_text(small);
    EXPECT_GT(scenario.injections.size(), 20U);
    const auto again = trial(small);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->promise, Promise::stays_stopped);
    return;
  }
  FAIL() << "no seed shows the bug";
}

}  // namespace
}  // namespace trainward::sim
