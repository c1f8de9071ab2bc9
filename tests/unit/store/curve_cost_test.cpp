// What a curve costs.
#include "cost.hpp"

namespace trainward::store {
namespace {

class CurveCost : public CostTest {
 protected:
  // Of the newest ten steps, while the only attempt still runs.
  [[nodiscard]] std::int64_t cost_of_the_newest(std::int64_t last) const {
    const Store store = open();
    return cost([&] {
      const auto curve = must(store.curve_json("trainer", {last - 9, last, 100, "loss"}));
      EXPECT_EQ(curve.at("columns").at("step").as_array().size(), 10U);
      EXPECT_EQ(curve.at("attempts").at(0).at("last_step").as_int64(), last);
    });
  }
};

TEST_F(CurveCost, OfTheNewestStepsDoesNotGrowWithTheAttemptThatRuns) {
  constexpr std::int64_t some = 2'000;
  constexpr std::int64_t many = 20'000;
  Store writer = open();
  const auto put = [&](std::int64_t from, std::int64_t to) {
    auto transaction = must(writer.begin(Store::Survives::process));
    add_steps(writer, 1, from, to, 0);
    must(transaction.commit());
  };
  {
    auto transaction = must(writer.begin(Store::Survives::process));
    must(writer.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0}));
    must(writer.put_attempt(attempt(1, 0, 1, 0, 0)));
    must(transaction.commit());
  }
  put(1, some);
  const std::int64_t short_run = cost_of_the_newest(some);
  put(some + 1, many);
  const std::int64_t long_run = cost_of_the_newest(many);
  EXPECT_GT(short_run, 100) << "nothing was counted";
  EXPECT_LT(long_run, short_run + (many - some) / 10);
}

}  // namespace
}  // namespace trainward::store
