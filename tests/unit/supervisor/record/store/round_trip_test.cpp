// What is written is read back, and survives closing and opening.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>

#include "fixture.hpp"

namespace trainward::store {
namespace {

TEST_F(StoreTest, ANewFileHasModeAndFolder) {
  file_ = folder_ / "deep" / "er" / "trainward.db";
  const Store store = open();
  struct stat status {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U & ~0640U, 0U);
  EXPECT_TRUE(must(store.programs()).empty());
  EXPECT_EQ(must(store.newest_ms()), 0);
}

TEST_F(StoreTest, ProgramsComeBackByName) {
  {
    Store store = open();
    fill(store);
  }
  const Store store = open();
  const auto programs = must(store.programs());
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[0].name, "idle");
  EXPECT_EQ(programs[1].state, "RUNNING");
  EXPECT_EQ(programs[1].core_state, "{}");
  EXPECT_EQ(must(store.program("trainer"))->changed_ms, epoch_ms + 300'000);
  EXPECT_FALSE(must(store.program("nope")).has_value());
}

TEST_F(StoreTest, ARemovedProgramIsHiddenUntilItComesBack) {
  Store store = open();
  fill(store);
  must(store.remove_program("trainer"));
  EXPECT_FALSE(must(store.program("trainer")).has_value());
  EXPECT_EQ(must(store.programs()).size(), 1U);
  EXPECT_EQ(must(store.status_json(Time{})).size(), 1U);
  EXPECT_EQ(must(store.history_json("trainer")).size(), 3U);
  must(store.put_program({"trainer", "STOPPED", "", "", "", 1, 0}));
  EXPECT_EQ(must(store.programs()).size(), 2U);
}

TEST_F(StoreTest, AnAttemptKeepsEveryField) {
  Store store = open();
  fill(store);
  const auto second = must(store.attempt("trainer", 2));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->nonce, "n2");
  EXPECT_EQ(second->exit_signal, 9);
  EXPECT_FALSE(second->exit_code.has_value());
  EXPECT_EQ(second->resume_from, "step-00000024");
  EXPECT_EQ(second->verdict, "No progress in the phase train for 60 s.");
  EXPECT_EQ(must(store.attempts("trainer")).back().number, 3);
  EXPECT_FALSE(must(store.attempt("trainer", 4)).has_value());
}

TEST_F(StoreTest, UpdatingAnAttemptLeavesItsJournalOffset) {
  Store store = open();
  fill(store);
  must(store.set_journal_offset("trainer", 3, 4711));
  must(store.put_attempt(attempt(3, 28, 29, 40, 36)));
  EXPECT_EQ(must(store.journal_offset("trainer", 3)), 4711);
  EXPECT_EQ(must(store.journal_offset("trainer", 9)), 0);
}

TEST_F(StoreTest, HighestStepCountsStepsAndAttempts) {
  Store store = open();
  fill(store);
  EXPECT_EQ(must(store.highest_step("trainer")), 40);
  EXPECT_EQ(must(store.highest_step("idle")), 0);
  must(store.put_attempt(attempt(4, 36, 37, 99, 0)));
  EXPECT_EQ(must(store.highest_step("trainer")), 99);
}

TEST_F(StoreTest, TheStepAtATimeIsOfTheAttemptThatRanThen) {
  Store store = open();
  const auto begin = [&](std::int64_t number, std::int64_t at_ms, std::int64_t resume_step) {
    AttemptRow row = attempt(number, 0, 0, 0, 0);
    row.intended_ms = at_ms;
    row.resume_step = resume_step;
    must(store.put_attempt(row));
  };
  const auto done = [&](std::int64_t number, std::int64_t step, std::int64_t at_ms) {
    StepRow row;
    row.step = step;
    row.attempt = number;
    row.at_ms = at_ms;
    must(store.add_step("trainer", row));
  };
  ProgramRow program;
  program.name = "trainer";
  must(store.put_program(program));
  const auto at = [&](std::int64_t ms) { return must(store.step_at("trainer", ms)); };
  EXPECT_EQ(at(5'000), std::nullopt);
  begin(1, 1'000, 0);
  EXPECT_EQ(at(1'500), std::nullopt) << "nothing was done yet";
  for (std::int64_t step = 1; step <= 50; ++step) done(1, step, 1'000 + step * 100);
  begin(2, 10'000, 20);
  EXPECT_EQ(at(10'050), 20) << "what it was told to go on from";
  for (std::int64_t step = 21; step <= 30; ++step) done(2, step, 10'000 + step * 100);
  EXPECT_EQ(at(999), std::nullopt);
  EXPECT_EQ(at(1'100), std::nullopt);
  EXPECT_EQ(at(1'101), 1);
  EXPECT_EQ(at(3'050), 20);
  EXPECT_EQ(at(9'999), 50);
  EXPECT_EQ(at(12'550), 25) << "and not 50, which the first attempt had reached";
  EXPECT_EQ(at(99'000), 30);
}

TEST_F(StoreTest, ALossThatIsNoNumberIsNull) {
  Store store = open();
  fill(store);
  StepRow row;
  row.step = 41;
  row.attempt = 3;
  row.loss = std::numeric_limits<double>::quiet_NaN();
  row.grad_norm = std::numeric_limits<double>::infinity();
  must(store.add_step("trainer", row));
  const auto status = must(store.status_json(Time{}));
  EXPECT_TRUE(status[1].at("loss").is_null());
  EXPECT_EQ(status[1].at("last_step").as_int64(), 41);
}

TEST_F(StoreTest, AnEvaluationMadeAgainReplacesItsOwnAttemptsOnly) {
  Store store = open();
  fill(store);
  must(store.add_evaluation("trainer", {36, 3, 4.0, epoch_ms + 319'000}));
  must(store.add_evaluation("trainer",
                            {48, 3, std::numeric_limits<double>::quiet_NaN(), epoch_ms + 320'000}));
  const auto rows = must(store.evaluations_json("trainer"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2].at("loss").as_double(), 4.0);
  EXPECT_EQ(rows[2].at("times_done").as_int64(), 1);
  EXPECT_TRUE(rows[3].at("loss").is_null());
  const auto status = must(store.status_json(Time{}));
  EXPECT_EQ(status[1].at("evaluated_step").as_int64(), 48);
  EXPECT_TRUE(status[1].at("evaluation_loss").is_null());
}

TEST_F(StoreTest, AnEvaluationOfAnUnknownAttemptIsRefused) {
  Store store = open();
  fill(store);
  const auto refused = store.add_evaluation("trainer", {36, 9, 4.0, 0});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
}

TEST_F(StoreTest, TheNewestSamplesOfEachProgramStay) {
  Store store = open();
  fill(store);
  must(store.put_program({"other", "STOPPED", "", "", "", 0, 0}));
  AttemptRow other = attempt(1, 0, 0, 0, 0);
  other.program = "other";
  must(store.put_attempt(other));
  must(store.add_sample("other", {1, 1, "p", "a", {}, "", true, epoch_ms}));
  const auto transaction = must(store.begin());
  for (std::int64_t step = 100; step < 100 + samples_kept; ++step) {
    must(store.add_sample("trainer", {step, 3, "p", "a", {}, "", false, epoch_ms}));
  }
  const auto rows = must(store.samples_json("trainer"));
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(samples_kept));
  EXPECT_EQ(rows.front().at("step").as_int64(), 100);
  EXPECT_TRUE(rows.front().at("tokens").is_null());
  EXPECT_EQ(must(store.samples_json("other")).size(), 1U);
}

TEST_F(StoreTest, ASampleOfAnUnknownAttemptIsRefused) {
  Store store = open();
  fill(store);
  const auto refused = store.add_sample("trainer", {36, 9, "p", "a", {}, "", false, 0});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
}

TEST_F(StoreTest, ACompiledProgramOfAnUnknownAttemptIsRefused) {
  Store store = open();
  fill(store);
  const auto refused = store.add_compiled("trainer", {9, "head", "k", true, 1, "", 0});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
}

TEST_F(StoreTest, AnAttemptOfAnUnknownProgramIsRefused) {
  Store store = open();
  const auto refused = store.put_attempt(attempt(1, 0, 0, 0, 0));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(refused.error().where, file_.string());
}

TEST_F(StoreTest, NewestIsTheLatestOfEverything) {
  Store store = open();
  fill(store);
  EXPECT_EQ(must(store.newest_ms()), epoch_ms + 320'000);  // step 40 of attempt 3
}

// What a later attempt can go on from; a damaged one is on record too, and so is one that was
// removed.
TEST_F(StoreTest, TheNewestCheckpointIsTheNewestThatVerified) {
  Store store = open();
  must(store.put_program({"a", "RUNNING", "", "", "", epoch_ms, 0}));
  EXPECT_EQ(must(store.newest_checkpoint("a")), 0);
  must(store.put_checkpoint("a", {"/c/10", 10, 1, 5, "verified", "", epoch_ms}));
  must(store.put_checkpoint("a", {"/c/20", 20, 1, 5, "verified", "", epoch_ms}));
  must(store.put_checkpoint("a", {"/c/30", 30, 1, 5, "corrupt", "a byte flipped", epoch_ms}));
  EXPECT_EQ(must(store.newest_checkpoint("a")), 20);
  must(store.mark_checkpoint("a", "/c/20", "pruned"));
  EXPECT_EQ(must(store.newest_checkpoint("a")), 10);
  EXPECT_EQ(must(store.newest_checkpoint("b")), 0);
}

}  // namespace
}  // namespace trainward::store
