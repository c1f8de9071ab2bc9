// Figures for metrics: what they are, and that they cost no more for a longer run.
#include "cost.hpp"

namespace trainward::store {
namespace {

class Figures : public CostTest {
 protected:
  // Attempts of "trainer" that have ended, each with a checkpoint, a span and a compiled program.
  static void put_attempts(Store& store, std::int64_t from, std::int64_t to) {
    auto transaction = must(store.begin(Store::Survives::process));
    must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0}));
    for (std::int64_t number = from; number <= to; ++number) {
      AttemptRow row = attempt(number, number - 1, number, number, number);
      row.ended_ms = row.started_ms + 1'000;
      row.cause = "hang";
      must(store.put_attempt(row));
      add_steps(store, number, number, number, 0);
      must(store.add_span("trainer", {number, "saving", "", epoch_ms, number}));
      must(store.add_compiled("trainer", {number, "head", "k", true, 5, "", epoch_ms}));
    }
    must(transaction.commit());
  }
};

TEST_F(Figures, StepsOfAttemptsCostAsMuchAsThereAreAttempts) {
  constexpr std::int64_t some = 50;
  constexpr std::int64_t many = 8 * some;
  Store store = open();
  const auto cost_of = [&](std::int64_t attempts) {
    return cost([&] {
      const auto steps = must(store.steps_of_attempts("trainer", 1, attempts));
      EXPECT_EQ(static_cast<std::int64_t>(steps.size()), attempts);
    });
  };
  put_attempts(store, 1, some);
  const std::int64_t of_some = cost_of(some);
  put_attempts(store, some + 1, many);
  EXPECT_GT(of_some, 1'000) << "nothing was counted";
  EXPECT_LT(cost_of(many), 10 * of_some);
}

}  // namespace
}  // namespace trainward::store
