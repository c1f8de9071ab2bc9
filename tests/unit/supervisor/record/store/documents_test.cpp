// The JSON documents that the API serves.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "fixture.hpp"

namespace trainward::store {
namespace {

using testing::HasSubstr;

class DocumentsTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store_.emplace(open());
    fill(*store_);
  }
  void TearDown() override {
    store_.reset();
    StoreTest::TearDown();
  }
  std::optional<Store> store_;
};

TEST_F(DocumentsTest, Status) {
  const auto rows = must(store_->status_json(Time{epoch_ms + 310'500, 0}));
  ASSERT_EQ(rows.size(), 2U);
  const json::object& trainer = rows[1].as_object();
  EXPECT_EQ(must(get_string(trainer, "name")), "trainer");
  EXPECT_EQ(must(get_int(trainer, "pid")), 4003);
  EXPECT_EQ(must(get_int(trainer, "attempt")), 3);
  EXPECT_EQ(must(get_int(trainer, "uptime_ms")), 10'000);
  EXPECT_EQ(must(get_int(trainer, "last_step")), 40);
  EXPECT_EQ(must(get_int(trainer, "kept_step")), 36);
  EXPECT_NEAR(must(get_number(trainer, "loss")), 3.7, 1e-9);
  EXPECT_EQ(must(get_int(trainer, "evaluated_step")), 36);
  EXPECT_EQ(must(get_number(trainer, "evaluation_loss")), 4.25);
  EXPECT_EQ(must(get_int(trainer, "cache_hits")), 2) << "of the newest attempt";
  EXPECT_EQ(must(get_int(trainer, "cache_misses")), 0);
  EXPECT_EQ(must(get_string(trainer, "cause")), "hang") << "of the newest attempt that ended";
  const json::object& idle = rows[0].as_object();
  EXPECT_EQ(must(get_string(idle, "cause")), "");
  EXPECT_TRUE(idle.at("effective_share").is_null());
  EXPECT_EQ(must(get_int(idle, "cache_hits")), 0);
  EXPECT_EQ(must(get_int(idle, "pid")), 0);
  EXPECT_EQ(must(get_int(idle, "uptime_ms")), 0);
  EXPECT_TRUE(idle.at("loss").is_null());
  EXPECT_TRUE(idle.at("evaluated_step").is_null());
}

TEST_F(DocumentsTest, StatusAndLedgerHaveTheSameShare) {
  const auto share = [&](std::int64_t now_ms) {
    const Time now{now_ms, 0};
    const auto rows = must(store_->status_json(now));
    const double of_status = must(get_number(rows[1].as_object(), "effective_share"));
    EXPECT_DOUBLE_EQ(of_status, must(get_number(must(store_->ledger_json("trainer", {}, now)),
                                                "effective_share")));
    return of_status;
  };
  const double booked = share(epoch_ms + 400'000);
  must(store_->put_program({"trainer", "RUNNING", "training", "d1",
                            fmt::format(R"({{"span":{{"phase":"stepping","cause":"",)"
                                        R"("since":{{"wall_ms":{}}}}}}})",
                                        epoch_ms + 320'000),
                            epoch_ms + 300'000, 300}));
  const double sooner = share(epoch_ms + 400'000);
  EXPECT_GT(sooner, booked);
  EXPECT_GT(share(epoch_ms + 900'000), sooner) << "the phase that goes on counts";
}

TEST_F(DocumentsTest, AnEndedAttemptHasNoPidAndNoUptime) {
  AttemptRow row = attempt(3, 28, 29, 40, 40);
  row.ended_ms = row.started_ms + 1000;
  row.exit_code = 0;
  row.cause = "done";
  must(store_->put_attempt(row));
  const auto rows = must(store_->status_json(Time{epoch_ms + 999'000, 0}));
  EXPECT_EQ(rows[1].at("pid").as_int64(), 0);
  EXPECT_EQ(rows[1].at("uptime_ms").as_int64(), 0);
}

TEST_F(DocumentsTest, HistoryOfOneAndOfAll) {
  EXPECT_EQ(must(store_->history_json("trainer")).size(), 3U);
  EXPECT_EQ(must(store_->history_json("")).size(), 3U);
  EXPECT_TRUE(must(store_->history_json("idle")).empty());
  EXPECT_TRUE(must(store_->history_json("trainer"))[2].at("duration_s").is_null());
}

TEST_F(DocumentsTest, WhyTakesTheNewestEndedAttemptWithEvidenceByWeight) {
  const auto why = must(store_->why_json("trainer", std::nullopt));
  EXPECT_EQ(why.at("attempt").at("attempt").as_int64(), 2);
  EXPECT_EQ(why.at("phases").as_array().size(), 2U);
  const auto first = must(store_->why_json("trainer", 1));
  ASSERT_EQ(first.at("evidence").as_array().size(), 2U);
  EXPECT_EQ(first.at("evidence").at(0).at("location").as_string(), "stderr.log:117");
  EXPECT_EQ(first.at("evidence").at(1).at("weight").as_int64(), 40);
}

TEST_F(DocumentsTest, WhyOfNothing) {
  const auto idle = must(store_->why_json("idle", std::nullopt));
  EXPECT_TRUE(idle.at("attempt").is_null());
  EXPECT_EQ(idle.at("reason").as_string(), "Not started");
  const auto program = store_->why_json("nope", std::nullopt);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, ErrorKind::usage);
  const auto number = store_->why_json("trainer", 17);
  ASSERT_FALSE(number.has_value());
  EXPECT_THAT(number.error().hint, HasSubstr("1 to 3"));
}

TEST_F(DocumentsTest, ReportAddsUp) {
  const auto report = must(store_->report_json("trainer"));
  EXPECT_EQ(must(get_int(report, "attempts")), 3);
  EXPECT_EQ(must(get_int(report, "steps_kept")), 36);
  EXPECT_EQ(must(get_int(report, "steps_lost")), 3);
  EXPECT_EQ(must(get_int(report, "steps_replayed")), 3);
  EXPECT_NEAR(must(get_number(report, "effective_share")), 0.6, 1e-9);
  EXPECT_EQ(must(get_string(report, "biggest_thief")), "loading");
  EXPECT_NEAR(must(get_number(report, "first_loss")), 5.65, 1e-9);
  EXPECT_NEAR(must(get_number(report, "last_loss")), 3.7, 1e-9);
  EXPECT_EQ(must(get_int(report, "evaluated_step")), 36);
  EXPECT_EQ(must(get_number(report, "evaluation_loss")), 4.25);
  EXPECT_EQ(must(get_number(report, "best_evaluation_loss")), 4.25);
  EXPECT_NEAR(must(get_number(report, "tokens_per_second")), 40'000.0 / 60, 1e-6);
  EXPECT_NEAR(must(get_number(report, "wall_seconds")), 320.0, 1e-9);
  EXPECT_EQ(must(get_int(report, "cache_hits")), 3);
  EXPECT_EQ(must(get_int(report, "cache_misses")), 3);
  EXPECT_EQ(report.at("causes").as_array().size(), 2U);
  EXPECT_EQ(report.at("phases").at(0).at("phase").as_string(), "stepping");
  EXPECT_EQ(report.at("boards").at(1).at("verdict").as_string(), "REMOTE_LOST");
  EXPECT_EQ(report.at("boards").at(0).at("attempts").as_int64(), 3);
}

TEST_F(DocumentsTest, ReportTellsWhatWasLearned) {
  must(store_->add_evaluation("trainer", {40, 3, 4.75, epoch_ms, 115.6}));
  const auto report = must(store_->report_json("trainer"));
  EXPECT_EQ(must(get_number(report, "evaluation_perplexity")), 115.6);
  const json::array& evaluations = report.at("evaluations").as_array();
  ASSERT_EQ(evaluations.size(), 4U);
  EXPECT_EQ(evaluations[0].at("step").as_int64(), 12);
  EXPECT_TRUE(evaluations[0].at("perplexity").is_null());
  EXPECT_EQ(evaluations[3].at("perplexity").as_double(), 115.6);
  EXPECT_EQ(report.at("best_evaluation").at("step").as_int64(), 36);
  EXPECT_EQ(report.at("best_evaluation").at("perplexity").as_double(), 70.1);
  EXPECT_EQ(report.at("best_evaluation").at("checkpoint").as_string(), "/c/step-00000036");
  const json::array& samples = report.at("samples").as_array();
  ASSERT_EQ(samples.size(), 4U) << "two prompts at the newest two steps";
  EXPECT_EQ(samples[0].at("step").as_int64(), 24);
  EXPECT_EQ(samples[0].at("answer").as_string(), "y\nagain");
  EXPECT_EQ(samples[3].at("prompt").as_string(), "q");
  EXPECT_EQ(samples[3].at("answer").as_string(), "z");
  EXPECT_TRUE(report.at("early_end").is_null());
}

TEST_F(DocumentsTest, TheBestEvaluationIsThereHoweverLongAgo) {
  for (std::int64_t step = 100; step < 120; ++step) {
    must(store_->add_evaluation("trainer", {step, 3, 6.0, epoch_ms}));
  }
  const auto report = must(store_->report_json("trainer"));
  const json::array& evaluations = report.at("evaluations").as_array();
  ASSERT_EQ(evaluations.size(), 10U);
  EXPECT_EQ(evaluations[0].at("step").as_int64(), 36);
  EXPECT_EQ(evaluations[1].at("step").as_int64(), 111);
  must(store_->mark_checkpoint("trainer", "/c/step-00000036", "pruned"));
  EXPECT_TRUE(
      must(store_->report_json("trainer")).at("best_evaluation").at("checkpoint").is_null());
}

TEST_F(DocumentsTest, AnEarlyEndIsThatOfTheNewestAttempt) {
  must(store_->add_event({0, epoch_ms, "trainer", 2, "early_end", "of another"}));
  EXPECT_TRUE(must(store_->report_json("trainer")).at("early_end").is_null());
  must(store_->add_event({0, epoch_ms, "trainer", 3, "early_end", "no better"}));
  EXPECT_EQ(must(store_->report_json("trainer")).at("early_end").as_string(), "no better");
}

// A later attempt may have had it mended.
TEST_F(DocumentsTest, DataThatIsLeftOutIsThatOfTheNewestAttempt) {
  must(store_->add_event({0, epoch_ms, "trainer", 2, "data", "6 of 12 rows"}));
  EXPECT_TRUE(must(store_->report_json("trainer")).at("data_left_out").is_null());
  must(store_->add_event({0, epoch_ms, "trainer", 3, "data", "1 of 12 rows"}));
  EXPECT_EQ(must(store_->report_json("trainer")).at("data_left_out").as_string(), "1 of 12 rows");
}

TEST_F(DocumentsTest, AttemptsOnSeveralBoardsAreThoseOfEachBoardAndOfTheirMesh) {
  for (const char* serial : {"A", "A1", "B"}) must(store_->put_board(serial, "", "", "OK", "", 1));
  const auto put = [&](std::int64_t number, const char* boards, const char* mesh) {
    AttemptRow row = attempt(number, 40, 0, 40, 40);
    row.board = "A";
    row.boards = boards;
    row.mesh = mesh;
    must(store_->put_attempt(row));
  };
  put(4, "A,B", "2x4");
  put(5, "A", "1x4 of 2x4");
  put(6, "A,B", "2x4");
  const json::object report = must(store_->report_json("trainer"));
  EXPECT_EQ(json::serialize(report.at("meshes")),
            R"([{"mesh":"2x4","attempts":2,"numbers":"4,6"},)"
            R"({"mesh":"1x4 of 2x4","attempts":1,"numbers":"5"}])");
  std::map<std::string, std::int64_t> attempts;
  for (const json::value& row : must(store_->boards_json())) {
    attempts[must(get_string(row.as_object(), "serial"))] = row.at("attempts").as_int64();
  }
  EXPECT_EQ(attempts.at("A"), 3);
  EXPECT_EQ(attempts.at("A1"), 0) << "another serial begins like it";
  EXPECT_EQ(attempts.at("B"), 2);
  EXPECT_EQ(must(store_->history_json("trainer"))[3].at("boards").as_string(), "A,B");
  EXPECT_EQ(must(store_->why_json("trainer", 5)).at("attempt").at("mesh").as_string(),
            "1x4 of 2x4");
}

TEST_F(DocumentsTest, ReportOfAProgramThatNeverRan) {
  const auto report = must(store_->report_json("idle"));
  EXPECT_EQ(must(get_int(report, "attempts")), 0);
  EXPECT_EQ(must(get_number(report, "wall_seconds")), 0.0);
  EXPECT_TRUE(report.at("tokens_per_second").is_null());
  EXPECT_EQ(must(get_int(report, "cache_hits")), 0);
  EXPECT_FALSE(store_->report_json("nope").has_value());
}

TEST_F(DocumentsTest, EvaluationsByStep) {
  const auto rows = must(store_->evaluations_json("trainer"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].at("step").as_int64(), 12);
  EXPECT_EQ(rows[1].at("attempt").as_int64(), 2);
  EXPECT_EQ(rows[1].at("loss").as_double(), 4.5);
  EXPECT_TRUE(must(store_->evaluations_json("idle")).empty());
}

TEST_F(DocumentsTest, LossesForACurve) {
  const auto all = must(store_->losses_json("trainer", 1'000'000, 1000));
  ASSERT_GT(all.size(), 10U);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(all[i - 1].at("step").as_int64(), all[i].at("step").as_int64()) << "each once";
  }
  EXPECT_NEAR(all.back().at("loss").as_double(), 3.7, 1e-9);
  const auto some = must(store_->losses_json("trainer", 20, 4));
  EXPECT_EQ(some.front(), all.front());
  EXPECT_EQ(some.back().at("step").as_int64(), 20);
  EXPECT_LT(some.size(), 10U);
  EXPECT_TRUE(must(store_->losses_json("idle", 36, 4)).empty());
}

TEST_F(DocumentsTest, CompiledProgramsAsTheyWereTold) {
  const auto rows = must(store_->compiled_json("trainer"));
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at("name").as_string(), "head");
  EXPECT_EQ(rows[0].at("hit").as_int64(), 0);
  EXPECT_EQ(rows[0].at("ms").as_int64(), 900);
  EXPECT_EQ(rows[3].at("attempt").as_int64(), 2);
  EXPECT_EQ(rows[3].at("dropped").as_string(), "is cut short");
  EXPECT_EQ(rows[3].at("at").as_string(), "2025-11-20T21:46:42.000Z");
  EXPECT_TRUE(must(store_->compiled_json("idle")).empty());
  const auto why = must(store_->why_json("trainer", 2));
  EXPECT_EQ(why.at("attempt").at("cache_hits").as_int64(), 1);
  EXPECT_EQ(why.at("attempt").at("cache_misses").as_int64(), 1);
}

TEST_F(DocumentsTest, EventsAfterAnIdAndTheNewest) {
  EXPECT_EQ(must(store_->events_json("", 0, 100)).size(), 3U);
  EXPECT_EQ(must(store_->events_json("trainer", 1, 100)).size(), 1U);
  const auto newest = must(store_->events_json("trainer", -1, 1));
  ASSERT_EQ(newest.size(), 1U);
  EXPECT_EQ(newest[0].at("kind").as_string(), "exit");
}

TEST_F(DocumentsTest, TheNewestProbe) {
  EXPECT_TRUE(must(store_->probe_json()).empty());
  must(store_->add_probe(epoch_ms, "described", R"({"source":"described","boards":[]})", 12, ""));
  EXPECT_EQ(must(store_->probe_json()).at("report").at("source").as_string(), "described");
  must(store_->add_probe(epoch_ms + 1, "sysfs", "", 9000, "gave up after 9 s"));
  const auto failed = must(store_->probe_json());
  EXPECT_TRUE(failed.at("report").is_null());
  EXPECT_EQ(failed.at("error").as_string(), "gave up after 9 s");
}

TEST_F(DocumentsTest, Checkpoints) {
  const auto rows = must(store_->checkpoints_json("trainer"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].at("step").as_int64(), 36);
  must(store_->put_checkpoint(
      "trainer", {"/c/step-00000024", 24, 1, 1 << 20, "pruned", "older than 3", epoch_ms}));
  EXPECT_EQ(must(store_->checkpoints_json("trainer"))[0].at("state").as_string(), "pruned");
  EXPECT_EQ(must(store_->checkpoints_json("")).size(), 2U);
}

}  // namespace
}  // namespace trainward::store
