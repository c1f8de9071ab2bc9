// A database made anew from journals, or an older one that they bring up to date, compared with the
// one that was written while they were.
#include "supervisor/daemon/records/rebuild.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/file.hpp"
#include "live_run.hpp"
#include "supervisor/daemon/records/catch_up.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class RebuildTest : public ::testing::Test {
 protected:
  RebuildTest() {
    program_.name = "run";
    program_.autostart = true;
    program_.needs_board = true;
    program_.digest = "d";
  }
  store::Store open(const std::string& name) {
    return std::move(store::Store::open(folder_.path() / name).value());
  }
  // An error after a save, a crash without one, a kill for standing still, and the end.
  void play(LiveRun& run) {
    run.start();
    begin(run, 0);
    for (std::int64_t step = 1; step <= 5; ++step) finish(run, step);
    run.save(5);
    finish(run, 6);
    finish(run, 7);
    run.pass(1'000);
    run.end(R"("code":1)");

    begin(run, 5);
    finish(run, 6);
    run.say(R"("EVALUATED_STEP":"6","EVALUATION_LOSS":"2.25","EVALUATION_PERPLEXITY":"9.49")");
    run.say(
        R"("SAMPLE_STEP":"6","SAMPLE_PROMPT":"\"a\\nb\"","SAMPLE_ANSWER":"c","SAMPLE_END":"length")");
    run.say(R"("EARLY_END":"no better since")");
    run.say(R"("CACHE_HIT":"k1","PROGRAM":"block_forward","MS":"12")");
    run.pass(2'000);
    run.end(R"("signal":11)");

    while (run.state().stage == core::Stage::backoff) run.pass(1'000);
    begin(run, 5);
    finish(run, 6);
    run.pass_deadline();
    run.pass(500);
    run.end(R"("signal":9)");

    while (run.state().stage == core::Stage::backoff) run.pass(1'000);
    begin(run, 5);
    finish(run, 6);
    finish(run, 7);
    run.save(7);
    run.pass(1'000);
    run.end(R"("code":0)");
    ASSERT_EQ(run.state().stage, core::Stage::exited);
  }
  static void begin(LiveRun& run, std::int64_t from) {
    ASSERT_EQ(run.state().stage, core::Stage::launching);
    run.pass(300);
    run.started();
    run.pass(1'000);
    run.say(R"("PHASE":"load")");
    run.pass(10'000);
    run.say(fmt::format(R"("RESUMED_STEP":"{}","PHASE":"compile")", from));
    run.pass(60'000);
    run.say(R"("PHASE":"train")");
  }
  static void finish(LiveRun& run, std::int64_t step) {
    run.pass(30'000);
    run.step(step);
  }
  Rebuilt rebuild_into(store::Store& store) {
    return rebuild(store, paths_, {program_}, [](const auto&) { return session::LogEvidence(); })
        .value();
  }
  // Rows without what numbers them.
  static std::string text_of(json::array rows) {
    std::string text;
    for (json::value& row : rows) {
      row.as_object().erase("id");
      text += json::serialize(row) + "\n";
    }
    return text;
  }

  TemporaryFolder folder_;
  Paths paths_{folder_.path(), folder_.path()};
  config::Program program_;
};

// As a shim leaves them that has gone on in a second file in the middle of the attempt.
void go_on_in_another_file(const fs::path& journal) {
  const std::string text = read_file(journal, 1 << 20).value();
  const auto first_end = text.find('\n') + 1;
  const auto cut = text.find('\n', text.size() / 2) + 1;
  ASSERT_GT(cut, first_end);
  fs::rename(journal, journal.string() + ".1");
  std::string started = text.substr(0, first_end);
  const std::string type = R"("type":"started",)";
  started.insert(started.find(type) + type.size(), fmt::format(R"("base":{},"again":true,)", cut));
  // The first line of the second file is more than the stream had: its places lie further on.
  std::ofstream(journal) << started << text.substr(cut);
  fs::resize_file(journal.string() + ".1", cut);
}

TEST_F(RebuildTest, JournalsInSeveralFilesTellTheSame) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  for (int attempt = 1; attempt <= 4; ++attempt) {
    go_on_in_another_file(paths_.attempt("run", attempt) / attempt_files::journal);
  }
  store::Store after = open("after.db");
  EXPECT_EQ(rebuild_into(after).steps, before.step_rows("run").value());
  EXPECT_EQ(text_of(after.history_json("run").value()),
            text_of(before.history_json("run").value()));
}

TEST_F(RebuildTest, WhatWasRecordedIsRecordedAgain) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  store::Store after = open("after.db");
  const Rebuilt rebuilt = rebuild_into(after);
  EXPECT_EQ(rebuilt.attempts, 4);
  EXPECT_EQ(rebuilt.steps, before.step_rows("run").value());
  EXPECT_EQ(text_of(after.history_json("run").value()),
            text_of(before.history_json("run").value()));
  EXPECT_EQ(text_of(after.events_json("run", -1, 1'000).value()),
            text_of(before.events_json("run", -1, 1'000).value()));
  EXPECT_EQ(text_of(after.checkpoints_json("run").value()),
            text_of(before.checkpoints_json("run").value()));
  EXPECT_EQ(text_of(after.evaluations_json("run").value()),
            text_of(before.evaluations_json("run").value()));
  ASSERT_THAT(before.samples_json("run").value(), SizeIs(1));
  EXPECT_EQ(before.samples_json("run")->at(0).at("prompt"), "a\nb");
  EXPECT_EQ(before.evaluations_json("run")->at(0).at("perplexity"), 9.49);
  EXPECT_EQ(text_of(after.samples_json("run").value()),
            text_of(before.samples_json("run").value()));
  EXPECT_EQ(text_of(after.compiled_json("run").value()),
            text_of(before.compiled_json("run").value()));
  EXPECT_EQ(after.report_json("run").value(), before.report_json("run").value()) << "the ledger";
  // Of single steps, and of a bucket for all of them.
  for (const std::int64_t buckets : {2000, 1}) {
    const store::Store::CurveQuery query{{}, {}, buckets, "loss"};
    const auto curve = after.curve_json("run", query).value();
    EXPECT_FALSE(curve.at("columns").at("step").as_array().empty());
    EXPECT_EQ(curve.at("columns"), before.curve_json("run", query).value().at("columns"));
    EXPECT_EQ(curve.at("lost"), before.curve_json("run", query).value().at("lost"));
  }
  for (std::int64_t attempt = 1; attempt <= 4; ++attempt) {
    EXPECT_EQ(after.why_json("run", attempt).value(), before.why_json("run", attempt).value());
    EXPECT_EQ(after.attempt("run", attempt).value()->nonce,
              before.attempt("run", attempt).value()->nonce);
  }
}

// What an attempt lost is decided by the first step of the next, now as it was then.
TEST_F(RebuildTest, ARunOnASmallerMeshIsKnownToBe) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  run.offer.set = core::BoardSet{{}, "board B is ARC_DEAD"};
  run.offer.smaller = core::SmallerSet{{"A"}, {"1x2", "2x2", "board B is ARC_DEAD", 2}, "slower"};
  run.mesh = {{"shape", {1, 2}}, {"chips", {"A/L", "A/R"}}, {"full", {2, 2}}};
  run.start();
  begin(run, 0);
  finish(run, 1);
  run.save(1);
  run.pass(1'000);
  run.end(R"("code":0)");
  store::Store after = open("after.db");
  rebuild_into(after);
  EXPECT_EQ(after.history_json("run").value().at(0).at("mesh").as_string(), "1x2 of 2x2");
  EXPECT_EQ(text_of(after.history_json("run").value()),
            text_of(before.history_json("run").value()));
  const auto state =
      core::state_from_json(parse_json(after.program("run").value()->core_state, "state").value());
  ASSERT_TRUE(state && state->boards.smaller);
  EXPECT_EQ(state->boards.smaller->chips, 2);
}

TEST_F(RebuildTest, AProgramThatFindsItsOwnPlaceIsBookedTheSame) {
  program_.command = {{{foreign::Template::parse("train", {}).value()}}};
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  run.start();
  const auto train = [&](std::int64_t from, std::int64_t to, const std::string& how) {
    run.pass(300);
    run.started();
    run.pass(10'000);
    for (std::int64_t step = from; step <= to; ++step) finish(run, step);
    run.end(how);
    while (run.state().stage == core::Stage::backoff) run.pass(1'000);
  };
  train(1, 9, R"("code":1)");
  train(6, 7, R"("signal":11)");
  const auto lost = [](const store::Store& store) {
    std::vector<std::string> all;
    const auto rows = store.history_json("run").value();
    for (const json::value& row : rows) all.push_back(json::serialize(row.at("steps_lost")));
    return all;
  };
  EXPECT_THAT(lost(before), ElementsAre("4", "null", "0")) << "the third has done nothing yet";
  train(7, 12, R"("code":0)");
  ASSERT_EQ(run.state().stage, core::Stage::exited);
  EXPECT_THAT(lost(before), ElementsAre("4", "1", "0"));
  store::Store after = open("after.db");
  rebuild_into(after);
  EXPECT_EQ(text_of(after.history_json("run").value()),
            text_of(before.history_json("run").value()));
  EXPECT_EQ(after.report_json("run").value(), before.report_json("run").value()) << "the ledger";
  EXPECT_EQ(text_of(after.events_json("run", -1, 1'000).value()),
            text_of(before.events_json("run", -1, 1'000).value()));
}

TEST_F(RebuildTest, AttemptsThatWereNeverMadeAreGaps) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  std::filesystem::remove_all(paths_.attempt("run", 2));
  store::Store after = open("after.db");
  EXPECT_EQ(rebuild_into(after).attempts, 3);
  std::vector<std::int64_t> numbers;
  const auto rows = after.attempts("run").value();
  for (const store::AttemptRow& row : rows) numbers.push_back(row.number);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 4));
}

TEST_F(RebuildTest, WhatIsNotThereAnyMoreWasPruned) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  std::filesystem::remove_all(paths_.checkpoints("run") / "step-00000005");
  store::Store after = open("after.db");
  rebuild_into(after);
  const auto rows = after.checkpoints_json("run").value();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].at("state"), "pruned");
  EXPECT_EQ(rows[1].at("state"), "verified");
}

TEST_F(RebuildTest, AProgramThatIsNotStartedWithTheDaemonRests) {
  store::Store before = open("before.db");
  LiveRun run(before, paths_, program_);
  run.start();
  begin(run, 0);
  finish(run, 1);
  run.end(R"("code":1)");
  program_.autostart = false;
  store::Store after = open("after.db");
  rebuild_into(after);
  EXPECT_EQ(after.program("run").value()->state, "STOPPED");
}

TEST_F(RebuildTest, NothingIsMadeOfNothing) {
  store::Store after = open("after.db");
  EXPECT_EQ(rebuild_into(after).attempts, 0);
  EXPECT_TRUE(after.boot_id().value().has_value()) << "and it is whole";
}

// ---- a database that is older than the attempts ----

class CatchUpTest : public RebuildTest {
 protected:
  // The database as it was after each record of the run that `act` plays.
  template <typename Act>
  std::vector<std::string> backups_of(store::Store& live, LiveRun& run, Act act) {
    std::vector<std::string> names;
    run.recorded = [&] {
      names.push_back(fmt::format("backup-{}.db", names.size()));
      for (const char* part : {"", "-wal"}) {
        std::filesystem::copy_file(live.file().string() + part,
                                   (folder_.path() / names.back()).string() + part);
      }
    };
    act();
    return names;
  }
  std::int64_t caught_up(store::Store& store) {
    return catch_up(store, paths_, program_, [](const auto&) { return session::LogEvidence(); })
        .value();
  }
};

TEST_F(CatchUpTest, FromEveryMomentOfARunItComesToTheSame) {
  store::Store live = open("live.db");
  LiveRun run(live, paths_, program_);
  const auto backups = backups_of(live, run, [&] { play(run); });
  if (HasFatalFailure()) return;
  int older = 0;
  for (const std::string& name : backups) {
    SCOPED_TRACE(name);
    store::Store store = open(name);
    const auto known = static_cast<std::int64_t>(store.attempts("run").value().size());
    EXPECT_EQ(caught_up(store), 4 - known);
    if (known == 4) continue;  // the journal of the attempt that it knows says the rest
    ++older;
    EXPECT_EQ(text_of(store.history_json("run").value()),
              text_of(live.history_json("run").value()));
    EXPECT_EQ(text_of(store.events_json("run", -1, 1'000).value()),
              text_of(live.events_json("run", -1, 1'000).value()));
    EXPECT_EQ(text_of(store.checkpoints_json("run").value()),
              text_of(live.checkpoints_json("run").value()));
    EXPECT_EQ(store.report_json("run").value(), live.report_json("run").value()) << "the ledger";
    EXPECT_EQ(store.step_rows("run").value(), live.step_rows("run").value());
    EXPECT_EQ(stored_state(store, paths_, program_).value()->state.attempt, 4);
    EXPECT_EQ(caught_up(store), 0) << "once";
  }
  EXPECT_GT(older, 20);
}

TEST_F(CatchUpTest, AProgramThatTheDatabaseNeverHeardOfHasItsPast) {
  store::Store live = open("live.db");
  LiveRun run(live, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  store::Store store = open("older.db");
  EXPECT_EQ(caught_up(store), 4);
  EXPECT_EQ(text_of(store.history_json("run").value()), text_of(live.history_json("run").value()));
}

TEST_F(CatchUpTest, ANumberThatHasAFolderIsNotGivenAgain) {
  store::Store store = open("live.db");
  LiveRun run(store, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  // Decided on, made, and lost with the database: nothing of it was begun.
  std::filesystem::create_directories(paths_.attempt("run", 7) / "tmp");
  EXPECT_EQ(caught_up(store), 0);
  EXPECT_EQ(stored_state(store, paths_, program_).value()->state.attempt, 7);
}

// As after a bit has flipped in the number: nothing could be recorded of such an attempt.
TEST_F(CatchUpTest, AStateOfAnAttemptThatIsNotThereGoesOnFromTheNewestThatIs) {
  store::Store store = open("live.db");
  LiveRun run(store, paths_, program_);
  run.start();
  begin(run, 0);
  auto row = store.program("run").value();
  auto state = json::parse(row->core_state).as_object();
  state["attempt"] = 65;
  row->core_state = json::serialize(state);
  ASSERT_TRUE(store.put_program(*row));
  const auto stored = stored_state(store, paths_, program_).value();
  EXPECT_EQ(stored->state.attempt, 1);
  EXPECT_TRUE(core::has_worker(stored->state.stage));
}

TEST_F(CatchUpTest, AProgramThatWasRemovedGoesOnWithItsHistory) {
  store::Store store = open("live.db");
  LiveRun run(store, paths_, program_);
  play(run);
  if (HasFatalFailure()) return;
  ASSERT_TRUE(store.remove_program("run"));
  const auto stored = stored_state(store, paths_, program_).value();
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->returns);
  EXPECT_EQ(stored->state.attempt, 4);
  EXPECT_EQ(stored->state.history.kept_step, Step{7});
}

}  // namespace
}  // namespace trainward::daemon
