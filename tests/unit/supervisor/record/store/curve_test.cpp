// The curve from buckets is the curve from rows, whatever the run was like.
#include <cstdlib>
#include <functional>

#include "history.hpp"
#include "supervisor/record/store/curve/curve_ranges.hpp"
#include "supervisor/record/store/curve/step_pyramid.hpp"
#include "supervisor/record/store/schema.hpp"

namespace trainward::store {
namespace {

constexpr const char* metrics[] = {"loss", "grad_norm", "learning_rate", "tokens_per_second"};

class CurveTest : public StoreTest {
 protected:
  static void begin_attempt(Store& store, std::int64_t number, std::int64_t resume) {
    must(store.put_attempt(attempt(number, resume, 0, 0, 0)));
  }

  // As many attempts as it takes to `until`; each goes back behind what the last one did, at most
  // by `back`.
  static void run(History& history, Store& store, std::int64_t until, std::int64_t back,
                  std::int64_t every, const std::function<void()>& after_attempt = {}) {
    std::optional<Store::Transaction> transaction(must(store.begin(Store::Survives::process)));
    must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0}));
    std::int64_t resume = 0;
    for (std::int64_t number = 1; history.highest() < until && number <= 60; ++number) {
      begin_attempt(store, number, resume);
      const std::int64_t steps = 1 + history.below(history.one_in(4) ? 3 : 900);
      history.attempt(number, resume, steps, every, [&](const StepRow& row) {
        if (history.one_in(1000)) {  // a commit that failed: it never was
          must(transaction->commit());
          {
            auto lost = must(store.begin(Store::Survives::process));
            must(store.add_step("trainer", row));
          }
          transaction.emplace(must(store.begin(Store::Survives::process)));
        }
        must(store.add_step("trainer", row));
      });
      const std::int64_t lost = history.below(history.one_in(10) ? back : std::min(back, steps));
      resume = std::max<std::int64_t>(resume + (steps - lost) * every, 0);
      if (after_attempt) after_attempt();
    }
    must(transaction->commit());
  }

  static void expect_curve(const Store& store, const Steps& steps, const Store::CurveQuery& query) {
    const auto curve = must(store.curve_json("trainer", query));
    const std::int64_t first = steps.begin()->first;
    const std::int64_t last = steps.rbegin()->first;
    const std::int64_t from = std::max(query.from.value_or(first), first);
    const std::int64_t to = std::min(query.to.value_or(last), last);
    const auto bucket = curve.at("bucket_steps").as_int64();
    const auto expected = columns_by_hand(steps, from, to, bucket, query.metric);
    SCOPED_TRACE(
        fmt::format("{} {} to {} in {} by {}", query.metric, from, to, query.buckets, bucket));
    expect_same(curve.at("columns").as_object(), expected);
    EXPECT_LE(std::ssize(expected.at("step").as_array()), query.buckets);
    EXPECT_EQ(curve.at("newest_step").as_int64(), last);
    EXPECT_EQ(curve.at("first_step").as_int64(), first);
  }

  static void expect_curves(const Store& store, History& history) {
    for (const char* metric : metrics) {
      expect_curve(store, history.steps(), {{}, {}, 2000, metric});
      for (const std::int64_t buckets : {1, 7, 60, 500}) {
        const std::int64_t from = history.below(history.highest());
        const std::int64_t to = from + history.below(history.highest());
        expect_curve(store, history.steps(), {from, to, buckets, metric});
        expect_curve(store, history.steps(), {{}, {}, buckets, metric});
      }
    }
  }

  static unsigned seed() {
    const char* given = std::getenv("TRAINWARD_SEED");
    return given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  }
};

TEST_F(CurveTest, IsTheOneOfItsRows) {
  const unsigned seed = CurveTest::seed();
  SCOPED_TRACE(fmt::format("TRAINWARD_SEED={}", seed));
  for (unsigned run_number = 0; run_number < 6; ++run_number) {
    History history(seed + run_number);
    const std::int64_t every = run_number % 3 == 2 ? 37 : 1;
    std::filesystem::remove(file_);
    Store store = open();
    run(history, store, 9'000, 1 + history.below(2000), every);
    expect_curves(store, history);
    const auto report = must(store.report_json("trainer"));
    double best = std::numeric_limits<double>::infinity();
    std::int64_t rows = 0;
    for (const auto& [step, attempts] : history.steps()) {
      for (const auto& [number, row] : attempts) {
        if (row.loss && std::isfinite(*row.loss)) best = std::min(best, *row.loss);
        ++rows;
      }
    }
    EXPECT_EQ(report.at("best_loss").as_double(), best);
    EXPECT_EQ(must(store.step_rows("trainer")), rows);
    if (HasFailure()) return;
  }
}

// Of a run that goes on for long: seven digits of steps, of which few are told.
TEST_F(CurveTest, HasAllItsLevels) {
  History history(1);
  Store store = open();
  run(history, store, 40'000'000, 30, 9'973);
  expect_curves(store, history);
}

TEST_F(CurveTest, IsTheSameOfAFileThatWasBroughtUpToDate) {
  const unsigned seed = CurveTest::seed();
  SCOPED_TRACE(fmt::format("TRAINWARD_SEED={}", seed));
  History history(seed);
  {
    auto old = must(Connection::open(file_, Connection::Mode::read_write));
    for (const Migration& migration : migrations()) {
      if (migration.version < 8) must(old->script(migration.tables));
    }
    must(
        old->script(fmt::format("insert into programs (name, state) values ('trainer', 'EXITED');"
                                "pragma application_id = {}; pragma user_version = 7; begin",
                                application_id)));
    for (std::int64_t number = 1; number <= 12; ++number) {
      must(old->run("insert into attempts (program, number) values ('trainer', ?)", number));
      const std::int64_t resume = std::max<std::int64_t>(history.highest() - history.below(99), 0);
      history.attempt(number, resume, 800, 1, [&](const StepRow& row) {
        const auto loss =
            row.loss && std::isnan(*row.loss) ? std::numeric_limits<double>::infinity() : row.loss;
        must(
            old->run("insert or replace into steps (program, step, attempt, loss, tokens, at_ms) "
                     "values ('trainer', ?, ?, ?, ?, ?)",
                     row.step, row.attempt, loss, row.tokens, row.at_ms));
      });
    }
    must(old->script("commit"));
  }
  Store store = open();
  for (const std::int64_t buckets : {5, 100, 2000}) {
    expect_curve(store, history.steps(), {{}, {}, buckets, "loss"});
  }
  // And it goes on.
  auto transaction = must(store.begin());
  begin_attempt(store, 13, history.highest() - 500);
  history.attempt(13, history.highest() - 500, 700, 1,
                  [&](const StepRow& row) { must(store.add_step("trainer", row)); });
  for (const std::int64_t buckets : {5, 100, 2000}) {
    expect_curve(store, history.steps(), {{}, {}, buckets, "loss"});
  }
}

TEST_F(CurveTest, OfARunWithoutStepsIsEmpty) {
  Store store = open();
  must(store.put_program({"trainer", "STOPPED", "", "d", "{}", epoch_ms, 0}));
  const auto curve = must(store.curve_json("trainer", {}));
  EXPECT_TRUE(curve.at("columns").at("step").as_array().empty());
  EXPECT_TRUE(curve.at("newest_step").is_null());
  EXPECT_EQ(store.curve_json("trainer", {{}, {}, 9, "lost"}).error().kind, ErrorKind::usage);
}

// The run of fixture.hpp: step 25 was made again by the second attempt, 29 and 30 by the third.
TEST_F(CurveTest, SaysWhatHappenedAlongIt) {
  Store store = open();
  fill(store);
  const auto curve = must(store.curve_json("trainer", {}));
  EXPECT_EQ(curve.at("bucket_steps").as_int64(), 1);
  const auto& columns = curve.at("columns").as_object();
  ASSERT_EQ(columns.at("step").as_array().size(), 40U);
  EXPECT_EQ(columns.at("attempt").as_array()[24], 2);
  EXPECT_EQ(columns.at("attempt").as_array()[29], 3);
  EXPECT_EQ(json::serialize(curve.at("lost")),
            R"([{"attempt":1,"from":25,"to":25,"step":[25],"mean":[4.45E0]},)"
            R"({"attempt":2,"from":29,"to":30,"step":[29,30],"mean":[4.25E0,4.2E0]}])");
  const auto& attempts = curve.at("attempts").as_array();
  ASSERT_EQ(attempts.size(), 3U);
  const auto history = must(store.history_json("trainer"));
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    for (const char* same : {"attempt", "first_step", "last_step", "resume_step", "kept_step",
                             "steps_lost", "cause", "board"}) {
      EXPECT_EQ(attempts[i].at(same), history[i].at(same)) << same;
    }
  }
  EXPECT_EQ(attempts[0].at("began_ms").as_int64(), epoch_ms + 100'500);
  EXPECT_EQ(attempts[2].at("ended_ms").as_int64(), 0);
  EXPECT_EQ(json::serialize(curve.at("evaluations")),
            R"({"step":[12,24,36],"loss":[5.25E0,4.5E0,4.25E0],"attempt":[1,2,3]})");
  EXPECT_EQ(curve.at("checkpoints").as_array().size(), 2U);

  const auto end = must(store.curve_json("trainer", {31, {}, 2000, "loss"}));
  EXPECT_TRUE(end.at("lost").as_array().empty());
  ASSERT_EQ(end.at("attempts").as_array().size(), 1U);
  EXPECT_EQ(end.at("columns").at("step").as_array().size(), 10U);
}

TEST_F(CurveTest, LostStepsArePartsOfManyAttempts) {
  EXPECT_EQ(made_again({{1, 1, 100}, {2, 50, 60}, {3, 55, 70}, {4, 90, 200}}),
            (std::vector<StepRange>{{1, 50, 70}, {1, 90, 100}, {2, 55, 60}}));
  EXPECT_EQ(made_again({{1, 1, 10}, {2, 11, 20}}), std::vector<StepRange>{});
}

TEST_F(CurveTest, ThinnedRowsLeaveTheCurveAndTheReportAsTheyWere) {
  const unsigned seed = CurveTest::seed();
  SCOPED_TRACE(fmt::format("TRAINWARD_SEED={}", seed));
  History history(seed);
  Store store = open();
  const auto facts = [&] {
    auto report = must(store.report_json("trainer"));
    report["history"] = must(store.history_json("trainer"));
    report["status"] = must(store.status_json(Time{}));
    report["highest"] = must(store.highest_step("trainer"));
    report["rows"] = must(store.step_rows("trainer"));
    return report;
  };
  std::int64_t number = 0;
  run(history, store, 8'000, 100, 1, [&] {
    // As the daemon does it: the attempt is over, and finds its own place.
    auto row = *must(store.attempt("trainer", ++number));
    row.last_step = std::prev(history.steps().end())->first;
    for (const auto& [step, attempts] : history.steps()) {
      if (!attempts.contains(number)) continue;
      if (row.first_step == 0) row.first_step = step;
      row.last_step = step;
    }
    row.ended_ms = epoch_ms + number * 1000;
    row.cause = "device_oom";
    row.told_to_resume = number % 2 == 0;
    must(store.put_attempt(row));
    const auto before = facts();
    must(store.thin_steps("trainer", 1000, 30));
    EXPECT_EQ(facts(), before);
  });
  const auto before = must(store.curve_json("trainer", {{}, {}, 100, "loss"})).at("columns");
  const auto facts_before = facts();
  must(store.thin_steps("trainer", 1000, 1'000'000));
  EXPECT_EQ(must(store.curve_json("trainer", {{}, {}, 100, "loss"})).at("columns"), before);
  EXPECT_EQ(facts(), facts_before);
  // The curve's attempts are those of the view.
  const auto attempts = must(store.curve_json("trainer", {})).at("attempts").as_array();
  const auto rows = must(store.history_json("trainer"));
  ASSERT_EQ(attempts.size(), rows.size());
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    for (const char* same : {"attempt", "first_step", "last_step", "resume_step", "kept_step",
                             "steps_lost", "cause", "board"}) {
      EXPECT_EQ(attempts[i].at(same), rows[i].at(same)) << same << " of " << i;
    }
  }
  // Single steps are there of the newest only.
  const std::int64_t highest = history.highest();
  expect_curve(store, history.steps(), {highest - 999, {}, 2000, "loss"});
  const auto early = must(store.curve_json("trainer", {1000, 1500, 2000, "loss"}));
  EXPECT_EQ(early.at("bucket_steps").as_int64(), 64);
  expect_curve(store, history.steps(), {1000, 1500, 2000, "loss"});
  EXPECT_FALSE(must(store.losses_json("trainer", highest, 1000)).empty());
}

// A worker that begins anew, far behind what was thinned out.
TEST_F(CurveTest, StepsMadeAgainReplaceThinnedOnes) {
  Store store = open();
  auto transaction = must(store.begin());
  must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0}));
  const auto put = [&](std::int64_t attempt, std::int64_t from, std::int64_t to, double loss) {
    begin_attempt(store, attempt, from - 1);
    for (std::int64_t step = from; step <= to; ++step) {
      must(store.add_step("trainer", {{.loss = loss}, step, attempt, epoch_ms + step, false}));
    }
  };
  put(1, 0, 1999, 4.0);
  must(store.thin_steps("trainer", 500, 1000));
  put(2, 256 + 32, 256 + 64 + 31, 1.0);
  const auto curve = must(store.curve_json("trainer", {256, 256 + 191, 2000, "loss"}));
  const auto& columns = curve.at("columns").as_object();
  ASSERT_EQ(json::serialize(columns.at("step")), "[256,320,384]");
  EXPECT_EQ(json::serialize(columns.at("mean")), "[2.5E0,2.5E0,4E0]") << "half of them is 1";
  EXPECT_EQ(json::serialize(columns.at("attempt")), "[2,2,1]");
  EXPECT_EQ(json::serialize(columns.at("count")), "[64,64,64]");
}

}  // namespace
}  // namespace trainward::store
