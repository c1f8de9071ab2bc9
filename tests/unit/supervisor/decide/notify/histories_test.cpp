// Fortnights in a simulated world: people are told of every trouble, once, and left alone
// otherwise.
#include <cstdio>

#include "common/base/columns.hpp"
#include "common/base/text.hpp"
#include "receiver.hpp"
#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/trace.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::notify {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 2;
#else
constexpr std::uint64_t seeds = 10;
#endif

void play(const sim::Scenario& scenario, const core::Policy& policy, Receiver& receiver) {
  sim::Decider decider = sim::core_decider(scenario.setup);
  decider.policy = policy;
  sim::World world(scenario, decider);
  world.listen(
      [&](const core::Event& event, Time at, const core::State& state,
          std::span<const core::Action> actions) { receiver.hear(event, at, state, actions); });
  world.run();
}

// What holds of every history, whatever happens in it.
void expect_told_once(const Receiver& receiver) {
  for (const Message& message : receiver.told()) {
    EXPECT_LE(display_width(message.title), longest_title) << message.title;
    EXPECT_EQ(clean(message.title), message.title);
    EXPECT_FALSE(message.text.empty());
    EXPECT_LT(message.text.size(), 3000U);
  }
  for (const auto& [id, episode] : receiver.episodes()) {
    SCOPED_TRACE(episode.family);
    int ends = 0;
    int loops = 0;
    int firsts = 0;
    std::map<Kind, std::int64_t> newest;
    for (const Message& message : receiver.told(id)) {
      if (message.resolves) {
        ++ends;
      } else if (message.kind == Kind::crash_loop) {
        ++loops;
      } else if (message.tier != Tier::critical) {
        ++firsts;
      } else if (newest.contains(message.kind) && message.kind != Kind::gave_up) {
        // Given up again means that somebody has started it in between.
        EXPECT_GE(message.at_ms - newest[message.kind], 12 * hour_ms - minute_ms) << message.title;
      }
      newest[message.kind] = message.at_ms;
      // What is told after that is of another start.
      if (message.kind == Kind::gave_up) newest.erase(Kind::stuck);
    }
    EXPECT_LE(ends, 1);
    EXPECT_LE(loops, 1);
    EXPECT_LE(firsts, 1);
    EXPECT_EQ(ends, episode.closed_ms != 0 && !receiver.told(id).empty() ? 1 : 0)
        << "whoever was told of the begin is told of the end";
  }
}

TEST(Histories, EveryTroubleIsToldOnceAndClosedOnce) {
  std::size_t told = 0;
  std::size_t opened = 0;
  std::int64_t ends = 0;
  for (const char* name : {"chaos", "calm", "n300-port", "leaky-host", "flaky-ethernet", "nan",
                           "disk-full", "daemon-killed"}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", name, seed));
      const sim::Scenario scenario = *sim::make_scenario(name, seed, 14);
      const core::Policy policy = sim::policy_for(scenario.setup);
      Receiver receiver(policy, {});
      play(scenario, policy, receiver);
      expect_told_once(receiver);
      told += receiver.told().size();
      opened += receiver.episodes().size();
      for (const auto& [id, episode] : receiver.episodes()) ends += episode.ends;
      if (testing::Test::HasFailure()) FAIL() << to_text(scenario);
    }
  }
  std::printf("%zu messages, %zu episodes, %lld unplanned ends\n", told, opened,
              static_cast<long long>(ends));
  EXPECT_GT(opened, 0U);
  EXPECT_LT(told, static_cast<std::size_t>(ends)) << "fewer messages than crashes";
}

// Something kills it while it trains, long before the first checkpoint.
sim::Scenario crash_loop(std::uint64_t seed) {
  sim::Scenario scenario;
  scenario.name = "crash loop";
  sim::Setup& setup = scenario.setup;
  setup.seed = static_cast<std::int64_t>(seed);
  setup.step_ms = 100;
  setup.start_ms = 100;
  setup.load_ms = 100;
  setup.compile_cold_ms = 100;
  setup.compile_warm_ms = 100;
  setup.obeys_plan = 0;
  setup.needs_board = 0;
  setup.save_every_ms = sim::day_ms;
  setup.horizon_ms = sim::day_ms;
  setup.quiet_ms = sim::day_ms;
  setup.look_every_ms = 2 * sim::day_ms;
  for (std::int64_t i = 0; i < 2000; ++i) {
    scenario.injections.push_back({i, sim::Fault::killed, 0, sim::Moment::train});
  }
  return scenario;
}

TEST(Histories, ACrashLoopOfAThousandAttemptsSendsThreeMessages) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const sim::Scenario scenario = crash_loop(seed);
    core::Policy policy = sim::policy_for(scenario.setup);
    policy.budgets = {1000, 1000, 100 * day_ms};
    policy.backoff = {1'000, 10'000};
    Receiver receiver(policy, {});
    play(scenario, policy, receiver);
    EXPECT_GE(receiver.state().attempt, 1000);
    EXPECT_EQ(receiver.state().stage, core::Stage::fatal);
    expect_told_once(receiver);
    std::vector<Message> told = receiver.told();
    // That somebody has to act is said again after 12 h.
    std::erase_if(told, [](const Message& message) {
      return message.text.find("still so") != std::string::npos;
    });
    EXPECT_LE(told.size(), 3U);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().kind, Kind::gave_up);
  }
}

// The same fault every few hours, and the run gets on in between: the first is told of, that it
// keeps coming is told once, and the rest is left to the digest.
TEST(Histories, CrashesThatKeepComingAreToldOnceAsSuch) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    sim::Scenario scenario;
    scenario.name = "every two hours";
    scenario.setup.seed = static_cast<std::int64_t>(seed);
    scenario.setup.needs_board = 0;
    for (std::int64_t at = hour_ms; at < 13 * day_ms; at += 2 * hour_ms) {
      scenario.injections.push_back({at, sim::Fault::crash, 0, sim::Moment::train});
    }
    const core::Policy policy = sim::policy_for(scenario.setup);
    Receiver receiver(policy, {});
    play(scenario, policy, receiver);
    expect_told_once(receiver);
    std::int64_t ends = 0;
    for (const auto& [id, episode] : receiver.episodes()) ends += episode.ends;
    EXPECT_GT(ends, 100);
    EXPECT_LE(receiver.told().size(), 6U);
    EXPECT_EQ(receiver.told(Kind::crash_loop).size(), 1U);
  }
}

TEST(Histories, AQuietFortnightTellsNothing) {
  sim::Scenario scenario;
  scenario.name = "quiet";
  const core::Policy policy = sim::policy_for(scenario.setup);
  Receiver receiver(policy, {});
  play(scenario, policy, receiver);
  EXPECT_TRUE(receiver.told().empty());
  EXPECT_GT(receiver.state().history.kept_step, Step{1000}) << "it was no empty fortnight";
}

// At night what nobody has to act on waits.
TEST(Histories, InQuietHoursOnlyWhatIsCriticalIsDue) {
  std::size_t critical = 0;
  std::size_t waited = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    const sim::Scenario scenario = *sim::make_scenario("chaos", seed, 14);
    const core::Policy policy = sim::policy_for(scenario.setup);
    Policy wishes;
    wishes.quiet = {22 * 60, 7 * 60};
    Receiver receiver(policy, wishes);
    play(scenario, policy, receiver);
    expect_told_once(receiver);
    for (const Message& message : receiver.told()) {
      const bool night = is_quiet(*wishes.quiet, message.not_before_ms, utc);
      if (message.tier == Tier::critical) {
        EXPECT_LE(message.not_before_ms - message.at_ms,
                  facts(message.kind).held ? wishes.hold_ms : 0);
        critical += night ? 1 : 0;
      } else if (message.not_before_ms - message.at_ms > wishes.hold_ms) {
        EXPECT_EQ(minute_of_day(message.not_before_ms, utc), 8 * 60 + 10);
        ++waited;
      } else {
        EXPECT_FALSE(night) << message.title;
      }
    }
  }
  EXPECT_GT(critical, 0U);
  EXPECT_GT(waited, 0U);
}

}  // namespace
}  // namespace trainward::notify
