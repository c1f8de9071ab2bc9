// Some attempts by themselves are what v_attempts says of them among all the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <ranges>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class ChosenAttempts : public StoreTest {
 protected:
  static unsigned seed() {
    const char* given = std::getenv("TRAINWARD_SEED");
    return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  }
  // Told where to go on or not, clean ends among faults, attempts without a step, one that runs.
  static void made_up(Store& store, const std::string& program, std::mt19937& chance) {
    const auto below = [&](std::int64_t n) {
      return std::uniform_int_distribution<std::int64_t>(0, n - 1)(chance);
    };
    must(store.put_program({program, "RUNNING", "", "d", "{}", epoch_ms, 0}));
    const std::int64_t attempts = 1 + below(25);
    std::int64_t at = 0;
    for (std::int64_t number = 1; number <= attempts; ++number) {
      AttemptRow row = attempt(number, std::max<std::int64_t>(at - below(20), 0), 0, 0, 0);
      row.program = program;
      row.told_to_resume = below(2) == 0;
      const std::int64_t every = below(3) == 0 ? 10 : 1;
      const std::int64_t steps = below(4) == 0 ? 0 : 1 + below(12);
      must(store.put_attempt(row));
      for (std::int64_t i = 1; i <= steps; ++i) {
        StepRow step;
        step.step = (row.resume_step / every + i) * every;
        step.attempt = number;
        must(store.add_step(program, step));
        if (row.first_step == 0) row.first_step = step.step;
        at = row.last_step = step.step;
      }
      if (number < attempts || below(2) == 0) {
        row.ended_ms = row.started_ms + 1'000 + below(9'000);
        row.kept_step = std::max(row.last_step - below(8), row.resume_step);
        row.cause = below(4) == 0 ? "done" : "hang";
        row.exit_code = static_cast<int>(below(3));
      }
      must(store.put_attempt(row));
      for (std::int64_t i = below(3); i > 0; --i) {
        const auto weight = static_cast<int>(below(100));
        must(store.add_evidence(program, number, {"log rule", weight, "hang", "line", ""}));
      }
    }
  }
};

TEST_F(ChosenAttempts, AreThoseOfTheView) {
  const unsigned first = seed();
  for (unsigned round = 0; round < 20; ++round) {
    SCOPED_TRACE(fmt::format("TRAINWARD_SEED={}", first + round));
    std::mt19937 chance(first + round);
    std::filesystem::remove(file_);
    Store store = open();
    {
      auto transaction = must(store.begin());
      made_up(store, "other", chance);
      made_up(store, "trainer", chance);
      must(transaction.commit());
    }
    json::array all = must(store.history_json("trainer"));
    std::ranges::reverse(all);
    EXPECT_EQ(must(store.newest_attempts_json("trainer", std::nullopt, 1'000)), all);
    std::optional<json::value> explained;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t number = all[i].at("attempt").as_int64();
      EXPECT_EQ(must(store.why_json("trainer", number)).at("attempt"), all[i]);
      const json::array older = must(store.newest_attempts_json("trainer", number, 3));
      ASSERT_EQ(older.size(), std::min<std::size_t>(3, all.size() - i - 1));
      for (std::size_t j = 0; j < older.size(); ++j) EXPECT_EQ(older[j], all[i + 1 + j]);
      if (!explained && !all[i].at("ended_at").is_null()) explained = all[i];
    }
    EXPECT_EQ(must(store.why_json("trainer", std::nullopt)).at("attempt"),
              explained.value_or(all.front()));
  }
}

TEST_F(ChosenAttempts, OfAProgramWithoutAnyAreNone) {
  Store store = open();
  fill(store);
  EXPECT_TRUE(must(store.newest_attempts_json("idle", std::nullopt, 5)).empty());
  EXPECT_TRUE(must(store.newest_attempts_json("trainer", 1, 5)).empty());
}

}  // namespace
}  // namespace trainward::store
