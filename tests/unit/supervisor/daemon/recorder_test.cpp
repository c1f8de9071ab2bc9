// The rows of one program, and what becomes of a transaction that is not committed.
#include "supervisor/daemon/records/recorder.hpp"

#include <gtest/gtest.h>

#include "common/os/clock.hpp"
#include "supervisor/daemon/records/recovery.hpp"
#include "supervisor/daemon/records/store_database.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class RecorderTest : public ::testing::Test {
 protected:
  static config::Program named(const std::string& name) {
    config::Program program;
    program.name = name;
    return program;
  }
  // The program is there before its first attempt.
  void SetUp() override { ASSERT_TRUE(turn(core::Alive{}, {})); }
  // A turn in which one event had this outcome.
  bool turn(const core::Event& event, const core::Actions& actions, bool refuse = false) {
    const Status saved = database_.transact(session::Survives::process, [&]() -> Status {
      auto ok = recorder_.record({event, at_}, state_, actions);
      if (!ok) return ok;
      if (refuse) return fail(ErrorKind::transient, "full");
      return recorder_.save(state_, at_, {});
    });
    recorder_.settle(saved.has_value());
    return saved.has_value();
  }
  void begin_attempt(std::int64_t number) {
    state_.attempt = number;
    state_.stage = core::Stage::launching;
    ASSERT_TRUE(
        turn(core::Alive{}, {core::RecordAttemptBegun{number}, core::Launch{number, "", ""}}));
  }

  TemporaryFolder folder_;
  Paths paths_{folder_.path(), folder_.path()};
  store::Store store_ = std::move(store::Store::open(folder_.path() / "t.db").value());
  StoreDatabase database_{store_};
  config::Program program_ = named("run");
  core::State state_;
  Time at_{1'000'000, 5'000};
  Recorder recorder_{store_, paths_, program_};
};

TEST_F(RecorderTest, WhatWasNotCommittedNeverWas) {
  begin_attempt(1);
  const std::string nonce = recorder_.attempt().nonce;
  state_.attempt = 2;
  EXPECT_FALSE(turn(core::Alive{}, {core::RecordAttemptBegun{2}}, true));
  EXPECT_EQ(recorder_.attempt().number, 1);
  EXPECT_EQ(recorder_.attempt().nonce, nonce);
  EXPECT_EQ(store_.attempts("run").value().size(), 1U);
}

TEST_F(RecorderTest, TheNonceOfAnIntentIsCommittedWithIt) {
  begin_attempt(1);
  EXPECT_EQ(store_.attempt("run", 1).value()->nonce, recorder_.attempt().nonce);
  EXPECT_FALSE(recorder_.attempt().nonce.empty());
}

TEST_F(RecorderTest, ACheckpointOfAnEarlierAttemptIsNotThisOnes) {
  begin_attempt(1);
  begin_attempt(2);
  ASSERT_TRUE(turn(core::Alive{}, {core::RecordCheckpoint{1, "/c/5", 5, 7, ""}}));
  EXPECT_EQ(store_.attempt("run", 2).value()->kept_step, 0);
  ASSERT_TRUE(turn(core::Alive{}, {core::RecordCheckpoint{2, "/c/6", 6, 7, ""}}));
  EXPECT_EQ(store_.attempt("run", 2).value()->kept_step, 6);
}

// The attempt before has kept what this one took, as far as it had come.
TEST_F(RecorderTest, WhatWasTakenFromMemoryWasKept) {
  begin_attempt(1);
  state_.current.last_step = {60};
  ASSERT_TRUE(
      turn(core::Alive{}, {core::RecordAttemptEnded{1, {}, 9, core::Cause::killed, "k", {}, {}}}));
  state_.current.resume_from = "/c/step-00000050";
  state_.current.resume_step = {50};
  begin_attempt(2);
  EXPECT_EQ(store_.attempt("run", 2).value()->source, "disk");
  ASSERT_TRUE(turn(core::Resumed{61, true}, {core::RecordResumed{61}}));
  EXPECT_EQ(store_.attempt("run", 1).value()->kept_step, 60);
  const auto second = *store_.attempt("run", 2).value();
  EXPECT_EQ(second.source, "memory");
  EXPECT_EQ(second.resume_step, 61);
  EXPECT_EQ(second.resume_from, "step-00000050");
  EXPECT_EQ(store_.history_json("run").value().at(0).at("steps_lost").as_int64(), 0);
}

// A daemon that dies before the program has heard of the new start must not hide it.
TEST_F(RecorderTest, TheStartOfTheMachineIsCommittedWithTheEventThatTellsOfIt) {
  begin_attempt(1);
  ASSERT_TRUE(recorder_.recover(1, "an earlier start").has_value());
  ASSERT_TRUE(turn(core::Alive{}, {}));
  EXPECT_EQ(stored_state(store_, paths_, program_).value()->boot_id, "an earlier start");
  EXPECT_FALSE(turn(core::DaemonStarted{true}, {}, true));
  ASSERT_TRUE(turn(core::Alive{}, {}));
  EXPECT_EQ(stored_state(store_, paths_, program_).value()->boot_id, "an earlier start");
  ASSERT_TRUE(turn(core::DaemonStarted{true}, {}));
  EXPECT_EQ(stored_state(store_, paths_, program_).value()->boot_id, boot_id());
}

// Where it went on is asked of its first step, in the next daemon too.
TEST_F(RecorderTest, WhetherAnAttemptWasToldWhereToGoOnIsCommittedWithItsBegin) {
  begin_attempt(1);
  EXPECT_TRUE(store_.attempt("run", 1).value()->told_to_resume);
  state_.attempt = 2;
  ASSERT_TRUE(turn(core::Alive{}, {core::RecordAttemptBegun{2, false}}));
  EXPECT_FALSE(store_.attempt("run", 2).value()->told_to_resume);
  ASSERT_TRUE(recorder_.recover(2, "").has_value());
  EXPECT_FALSE(recorder_.attempt().told_to_resume);
  ASSERT_TRUE(turn(core::Alive{}, {core::RecordStep{{7}}}));
  const auto status = store_.status_json(Time{}).value();
  EXPECT_TRUE(status.at(0).at("loss").is_null());
}

TEST_F(RecorderTest, TheStateReadsBack) {
  begin_attempt(3);
  const auto stored = stored_state(store_, paths_, program_).value();
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->state, state_);
}

}  // namespace
}  // namespace trainward::daemon
