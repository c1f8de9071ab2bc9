// What a curve and a copy of it cost.
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

// A run is copied attempt by attempt, and followed for as long as it lasts.
TEST_F(CurveCost, OfACopyDoesNotGrowWithWhatOthersDid) {
  Store writer = open();
  {
    auto transaction = must(writer.begin(Store::Survives::process));
    for (const char* name : {"trainer", "other"}) {
      must(writer.put_program({name, "RUNNING", "", "d", "{}", epoch_ms, 0}));
    }
    must(writer.put_attempt(attempt(1, 0, 1, 10, 0)));
    must(writer.put_attempt(attempt(2, 0, 1, 0, 0)));
    add_steps(writer, 1, 1, 10, 0);
    must(writer.add_evaluation("trainer", {5, 1, 2.0, epoch_ms}));
    must(writer.add_span("trainer", {1, "stepping", "", epoch_ms, 1'000}));
    must(transaction.commit());
  }
  const auto cost_of = [&](auto read) {
    const Store store = open();
    int rows = 0;
    const std::int64_t instructions = cost([&] { read(store, rows); });
    EXPECT_GT(rows, 0);
    return instructions;
  };
  const auto steps = [](const Store& store, int& rows) {
    must(store.each_step("trainer", 1, 0, 2048, [&](const StepRow&) { ++rows; }));
  };
  const auto evaluations = [](const Store& store, int& rows) {
    must(store.each_evaluation("trainer", 1, 0, [&](const EvaluationRow&) { ++rows; }));
  };
  const auto spans = [](const Store& store, int& rows) {
    EXPECT_EQ(must(store.each_span("trainer", 0, 1, [&](const SpanRow&) { ++rows; })), 1);
  };
  const std::int64_t before = cost_of(steps) + cost_of(evaluations) + cost_of(spans);
  constexpr std::int64_t many = 5'000;
  {
    auto transaction = must(writer.begin(Store::Survives::process));
    add_steps(writer, 2, 1, many, 0);
    for (std::int64_t i = 1; i <= many; ++i) {
      must(writer.add_evaluation("trainer", {i, 2, 2.0, epoch_ms}));
      must(writer.add_span("trainer", {2, "stepping", "", epoch_ms + i, 1}));
      must(writer.add_span("other", {1, "stepping", "", epoch_ms + i, 1}));
    }
    must(transaction.commit());
  }
  // The end of one attempt is seen at the beginning of the next.
  EXPECT_LE(cost_of(steps) + cost_of(evaluations) + cost_of(spans), before + 10);
  int rows = 0;
  std::int64_t last = 0;
  for (std::int64_t next = 1; next != last;) {
    last = next;
    next = must(writer.each_span("trainer", last, 100, [&](const SpanRow& row) {
      EXPECT_EQ(row.begin_ms, epoch_ms + ++rows);
    }));
  }
  EXPECT_EQ(rows, many);
}

}  // namespace
}  // namespace trainward::store
