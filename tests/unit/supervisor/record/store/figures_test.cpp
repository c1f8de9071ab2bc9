// Figures for metrics: what they are, and that they cost no more for a longer run.
#include <array>
#include <random>

#include "cost.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

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

TEST_F(Figures, WhatOnlyGrowsIsReadFromWhereTheLastReadingEnded) {
  Store store = open();
  const auto cost_of_one_more = [&](std::int64_t number) {
    const auto ledger = must(store.ledger_after(0)).newest_id;
    const auto compiled = must(store.compiled_after(0)).newest_id;
    put_attempts(store, number, number);
    return cost([&] {
      const auto sums = must(store.ledger_after(ledger));
      EXPECT_EQ(sums.sums.at(0).ms, number);
      EXPECT_EQ(sums.newest_save_ms.at("trainer"), number);
      EXPECT_EQ(must(store.compiled_after(compiled)).sums.at(0).hits, 1);
    });
  };
  put_attempts(store, 1, 20);
  const std::int64_t short_run = cost_of_one_more(21);
  put_attempts(store, 22, 400);
  EXPECT_GT(short_run, 50) << "nothing was counted";
  EXPECT_LT(cost_of_one_more(401), short_run + 20);
}

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

TEST_F(Figures, StepsThatWereToldAreCountedFromEitherEnd) {
  using End = Store::FromEnd;
  Store store = open();
  must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0}));
  std::mt19937 chance(5);
  for (std::int64_t number = 1; number <= 4; ++number) {
    must(store.put_attempt(attempt(number, 0, 0, 0, 0)));
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 1; step <= 30; ++step) {
      if (chance() % 3 == 0) continue;
      add_steps(store, number, step, step, 0);
      steps.push_back(step);
    }
    const auto all = static_cast<std::int64_t>(steps.size());
    for (std::int64_t skip = 0; skip <= all; ++skip) {
      const auto oldest = must(store.told_by("trainer", number, End::oldest, skip));
      const auto newest = must(store.told_by("trainer", number, End::newest, skip));
      ASSERT_EQ(oldest.has_value(), skip < all);
      ASSERT_EQ(newest.has_value(), skip < all);
      if (skip == all) continue;
      EXPECT_EQ(oldest->step, steps.at(static_cast<std::size_t>(skip)));
      EXPECT_EQ(newest->step, steps.at(static_cast<std::size_t>(all - 1 - skip)));
      EXPECT_EQ(newest->attempt, number);
      EXPECT_EQ(newest->tokens, newest->step * 1000);
    }
  }
}

TEST_F(Figures, OfAStateTheWishAndTheOpenSpanAreRead) {
  Store store = open();
  const auto read = [&](const char* core_state) {
    must(store.put_program({"a", "RUNNING", "why", "d", core_state, epoch_ms, 300}));
    const auto programs = must(store.programs_now());
    EXPECT_EQ(programs.size(), 1U);
    EXPECT_EQ(programs.front().state, "RUNNING");
    EXPECT_EQ(programs.front().target_step, 300);
    return programs.front();
  };
  const ProgramNow whole = read(
      R"({"wanted": true, "reason": "\"span\": {", "skip": [1, 2], "span": {"attempt": 3,
          "phase": "down", "cause": "hang", "since": {"wall_ms": 70, "mono_ms": 7}}})");
  EXPECT_TRUE(whole.wanted);
  ASSERT_TRUE(whole.open.has_value());
  EXPECT_EQ(whole.open->phase, "down");
  EXPECT_EQ(whole.open->cause, "hang");
  EXPECT_EQ(whole.open->since, (Time{{70}, {7}}));
  for (const char* nothing :
       {"", "{", "[]", "null", "{}", R"({"wanted": null, "span": null})", R"({"wanted": false})",
        R"({"wanted": "yes", "span": "down"})", R"({"span": {"phase": "down", "since": 5}})"}) {
    SCOPED_TRACE(nothing);
    const ProgramNow empty = read(nothing);
    EXPECT_FALSE(empty.wanted);
    EXPECT_FALSE(empty.open.has_value());
  }
}

// Whatever is put, put again, marked, or not there to be marked.
TEST_F(Figures, CheckpointsAreCountedByWhatHasBecomeOfThem) {
  constexpr std::array states{"verified", "corrupt", "pruned"};
  Store store = open();
  auto connection = must(Connection::open(file_, Connection::Mode::read_only));
  const auto rows = [&](const std::string& program, const std::string& state) {
    std::int64_t count = 0;
    must(connection->each(
        "select count(*) from checkpoints where program = ? and state = ?",
        [&](const Row& row) { count = row.integer(0); }, program, state));
    return count;
  };
  for (const char* name : {"a", "b"}) {
    must(store.put_program({name, "RUNNING", "", "d", "{}", epoch_ms, 0}));
  }
  std::mt19937 chance(7);
  for (int round = 0; round < 200; ++round) {
    const std::string program = chance() % 2 == 0 ? "a" : "b";
    const auto step = static_cast<std::int64_t>(chance() % 12);
    const std::string state = states.at(chance() % states.size());
    if (chance() % 2 == 0) {
      must(store.put_checkpoint(program, {std::to_string(step), step, 0, 1, state, "", epoch_ms}));
    } else {
      must(store.mark_checkpoint(program, std::to_string(step), state));
    }
    if (round == 100) must(store.put_program({"a", "STOPPED", "", "d", "{}", epoch_ms, 0}));
    for (const ProgramNow& now : must(store.programs_now())) {
      ASSERT_EQ(now.verified, rows(now.name, "verified"));
      ASSERT_EQ(now.corrupt, rows(now.name, "corrupt"));
      ASSERT_EQ(now.pruned, rows(now.name, "pruned"));
    }
  }
}

}  // namespace
}  // namespace trainward::store
