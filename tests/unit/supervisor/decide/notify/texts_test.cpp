// What people read, word by word.
#include "receiver.hpp"

namespace trainward::notify {
namespace {

constexpr std::int64_t noon = 1'763'640'000'000;  // 2025-11-20T12:00:00Z

class Texts : public testing::Test {
 protected:
  Texts() {
    state_.stage = core::Stage::training;
    state_.wanted = true;
    state_.attempt = 12;
    state_.boards.board = "0100c0c4";
    state_.history.kept_step = {3200};
    state_.history.highest_step = {3241};
    state_.current.resume_step = {3000};
    state_.current.first_step = {3001};
    state_.current.last_step = {3241};
    policy_.target_step = {50'000};
    hear(core::Alive{}, {});
  }

  void hear(const core::Event& event, std::vector<core::Action> actions) {
    receiver_.hear(event, {{now_}, {now_ - noon + 1'000'000}}, state_, actions);
  }
  void crash(core::Stage then = core::Stage::backoff, core::Cause cause = core::Cause::device_oom) {
    state_.stage = then;
    state_.history.last_cause = cause;
    ++state_.history.attempts_without_progress;
    core::WorkerExited exited;
    exited.code = 1;
    exited.last_lines = {"Traceback (most recent call last):", "RuntimeError: Out of Memory"};
    hear(exited, {core::RecordAttemptEnded{
                     state_.attempt,
                     1,
                     {},
                     cause,
                     "exit 1",
                     {{"log rule", 60, cause, "Out of Memory: \x1b[31mno room", "stderr.log:117"}},
                     core::Remedy::shrink_plan}});
  }
  void resume(std::int64_t from) {
    ++state_.attempt;
    state_.stage = core::Stage::training;
    state_.current.resume_step = {from};
    state_.current.first_step = {from + 1};
    state_.current.last_step = {from + 1};
    now_ += 20'000;
    hear(core::StepDone{{from + 1}},
         {core::RecordSpan{12, core::Phase::loading, core::Cause::device_oom, {now_}, 180'000},
          core::RecordStep{.step = {from + 1}, .replayed = true}});
  }
  void keep(std::int64_t step) {
    now_ += 600'000;
    state_.history.kept_step = {step};
    state_.history.highest_step = {step};
    state_.current.last_step = {step};
    state_.history.attempts_without_progress = 0;
    hear(core::CheckpointVerified{state_.attempt, "/c", {step}, 1, ""},
         {core::RecordCheckpoint{state_.attempt, "/c", {step}, 1, ""}});
  }
  [[nodiscard]] Message only() const {
    EXPECT_EQ(receiver_.told().size(), 1U);
    return receiver_.told().empty() ? Message{} : receiver_.told().front();
  }
  [[nodiscard]] Message newest() const {
    EXPECT_FALSE(receiver_.told().empty());
    return receiver_.told().empty() ? Message{} : receiver_.told().back();
  }

  std::int64_t now_ = noon;
  core::State state_;
  core::Policy policy_;
  Receiver receiver_{policy_, {}};
};

TEST_F(Texts, ACrashThatResumesMeanwhileIsOneMessage) {
  crash();
  EXPECT_EQ(only().title, "trainer: device_oom, starting again");
  EXPECT_EQ(only().not_before_ms, noon + 90'000);
  resume(3200);
  const Message told = only();
  EXPECT_EQ(told.tier, Tier::warning);
  EXPECT_EQ(told.kind, Kind::crashed);
  EXPECT_EQ(told.not_before_ms, now_);
  EXPECT_EQ(told.title, "trainer: device_oom, resumed from step 3,200");
  EXPECT_EQ(told.text,
            "trainer: attempt 12 ended: device_oom at step 3,241 (18 attempts in 24 h): the "
            "device's memory is full.\n"
            "Evidence: stderr.log:117 \"Out of Memory: ?[31mno room\".\n"
            "Done: a smaller plan, resumed from step 3,200 on board 0100c0c4.\n"
            "Lost: 41 steps, 3 min 00 s. Effective 87 % of the last 24 h.\n"
            "No action is needed now. To prevent this: use a smaller batch or block.\n"
            "Look: trainwardctl why trainer");
  EXPECT_EQ(told.lines, (std::vector<std::string>{"Traceback (most recent call last):",
                                                  "RuntimeError: Out of Memory"}));
  EXPECT_EQ(told.fields.at("lost_steps").as_int64(), 41);
  EXPECT_EQ(told.fields.at("resumed_from").as_int64(), 3200);
  EXPECT_FALSE(told.fields.at("must_act").as_bool());
}

TEST_F(Texts, TheAllClearSaysWhatItCost) {
  crash();
  now_ += 100'000;
  hear(core::Alive{}, {});
  crash();
  resume(3200);
  keep(3400);
  const auto told = receiver_.told();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].kind, Kind::recovered);
  EXPECT_TRUE(told[1].resolves);
  EXPECT_EQ(told[1].episode, told[0].episode);
  EXPECT_EQ(told[1].title, "trainer: device_oom, recovered at step 3,400");
  EXPECT_EQ(told[1].text,
            "trainer: it is past its trouble after 12 min and 2 unplanned ends; newest verified: "
            "step 3,400.\n"
            "The newest: attempt 12 ended: device_oom at step 3,241 (18 attempts in 24 h): the "
            "device's memory is full.\n"
            "Lost: 82 steps, 3 min 00 s over 2 attempts. Effective 87 % of the last 24 h.\n"
            "No action is needed.\n"
            "Look: trainwardctl why trainer");
}

TEST_F(Texts, RecoveredBeforeAnybodyWasToldIsOneMessageForThoseWhoWantWarnings) {
  crash();
  now_ += 1'000;
  ++state_.attempt;
  state_.stage = core::Stage::training;
  now_ -= 599'000 - 5'000;
  keep(3300);
  const Message told = only();
  EXPECT_EQ(told.kind, Kind::recovered);
  EXPECT_EQ(told.tier, Tier::warning);
  EXPECT_TRUE(told.resolves);
}

TEST_F(Texts, WhatIsGivenUpIsToldAtOnceAndAgainWhileItLasts) {
  crash(core::Stage::fatal);
  const Message told = only();
  EXPECT_EQ(told.tier, Tier::critical);
  EXPECT_EQ(told.not_before_ms, noon);
  EXPECT_EQ(told.title, "trainer: device_oom, given up (FATAL)");
  EXPECT_NE(
      told.text.find(
          "Your action is needed: Use a smaller batch or block, then: trainwardctl start trainer."),
      std::string::npos)
      << told.text;
  EXPECT_TRUE(told.fields.at("must_act").as_bool());
  receiver_.pass_time(noon + 25 * 3'600'000);
  ASSERT_EQ(receiver_.told().size(), 3U);
  EXPECT_EQ(newest().title, "trainer: device_oom, still given up (FATAL)");
  // Somebody starts it: nobody is reminded any more, and told when it is past its trouble.
  now_ = noon + 26 * 3'600'000;
  state_.stage = core::Stage::launching;
  hear(core::StartRequested{}, {});
  receiver_.pass_time(now_ + 3 * 3'600'000);
  EXPECT_EQ(receiver_.told().size(), 3U);
  resume(3200);
  keep(3300);
  EXPECT_EQ(newest().kind, Kind::recovered);
}

TEST_F(Texts, WhoeverStopsItIsNotTold) {
  crash();
  now_ += 10'000;
  state_.wanted = false;
  state_.stage = core::Stage::stopped;
  hear(core::StopRequested{"uid 1000"}, {});
  EXPECT_TRUE(receiver_.told().empty());
  EXPECT_TRUE(receiver_.book().episodes.empty());
}

TEST_F(Texts, AttemptsInARowAreOneMoreMessage) {
  for (int i = 0; i < 50; ++i) {
    crash();
    now_ += 60'000;
    ++state_.attempt;
    state_.stage = core::Stage::launching;
    hear(core::Alive{}, {});
  }
  ASSERT_EQ(receiver_.told().size(), 2U);
  EXPECT_EQ(receiver_.told()[0].kind, Kind::crashed);
  EXPECT_EQ(newest().kind, Kind::crash_loop);
  EXPECT_EQ(newest().title, "trainer: device_oom, 5 attempts without progress");
}

TEST_F(Texts, TheSameEndTwiceIsCritical) {
  crash();
  now_ += 60'000;
  ++state_.attempt;
  state_.history.faults = {{core::Cause::device_oom, {3241}, 41, 1000, 0},
                           {core::Cause::device_oom, {3241}, 41, 1000, 0}};
  state_.history.attempts_without_progress = 1;
  crash();
  EXPECT_EQ(newest().kind, Kind::stuck);
  EXPECT_EQ(newest().tier, Tier::critical);
  EXPECT_EQ(newest().title, "trainer: device_oom, the same end 2 times");
  EXPECT_TRUE(newest().fields.at("must_act").as_bool());
}

TEST_F(Texts, AMissingFileIsCriticalAtOnce) {
  state_.history.missing_file = "FileNotFoundError: 'missing.json'";
  crash(core::Stage::backoff, core::Cause::data);
  EXPECT_EQ(newest().kind, Kind::stuck);
  EXPECT_EQ(newest().title, "trainer: a file is missing, it cannot start");
  EXPECT_NE(newest().text.find("Your action is needed: Put the file in its place"),
            std::string::npos)
      << newest().text;
}

TEST_F(Texts, NoProgressIsTold) {
  receiver_.pass_time(noon + 4 * 3'600'000 - 1);
  EXPECT_TRUE(receiver_.told().empty());
  receiver_.pass_time(noon + 4 * 3'600'000);
  EXPECT_EQ(only().title, "trainer: no progress for 4 h");
  EXPECT_EQ(only().tier, Tier::critical);
  EXPECT_NE(only().text.find("newest verified: step 3,200"), std::string::npos) << only().text;
  now_ = noon + 5 * 3'600'000;
  keep(3400);
  EXPECT_EQ(receiver_.told().size(), 2U);
  EXPECT_TRUE(newest().resolves);
}

TEST_F(Texts, EachTroubleOfItsOwnKind) {
  state_.reason = "pid 7 hangs in tt_ioctl";
  state_.stage = core::Stage::unkillable;
  hear(core::Unkillable{"pid 7"}, {});
  EXPECT_EQ(newest().title, "trainer: unkillable, nothing can start");
  EXPECT_NE(newest().text.find("pid 7 hangs in tt_ioctl."), std::string::npos) << newest().text;
  state_.stage = core::Stage::probing;
  core::BoardRecord held;
  held.quarantined_until_wall_ms = {now_ + 6 * 3'600'000};
  held.reason = "three faults";
  now_ += 1000;
  hear(core::Alive{}, {core::RecordBoard{"0100c0c4", held}});
  EXPECT_EQ(newest().title, "trainer: board …00c0c4 is in quarantine");
  EXPECT_EQ(newest().kind, Kind::board);
  state_.stage = core::Stage::backoff;
  now_ += 1000;
  state_.history.without_board_since = WallTime{now_};
  hear(core::ProbeFinished{{{"0100c0c4", "OK", false, "", held, false}}, "", {}}, {});
  EXPECT_EQ(newest().kind, Kind::board) << "it may come back in a moment";
  receiver_.pass_time(now_ + 120'000);
  now_ += 120'000;
  EXPECT_EQ(newest().title, "trainer: no board can be used");
  EXPECT_NE(newest().text.find("trainwardctl probe"), std::string::npos) << newest().text;
  EXPECT_EQ(newest().tier, Tier::critical);
  state_.stage = core::Stage::launching;
  state_.history.without_board_since.reset();
  now_ += 7 * 3'600'000;
  state_.history.kept_step = {};
  hear(core::CheckpointSelected{"", {}, ""}, {core::RecordAttemptBegun{13, true}});
  EXPECT_EQ(receiver_.told(Kind::recovered).size(), 3U) << "unkillable, boards, the board";
  EXPECT_EQ(newest().kind, Kind::no_checkpoint);
  EXPECT_NE(newest().text.find("step 3200 had been kept"), std::string::npos) << newest().text;
  now_ += 1000;
  crash(core::Stage::backoff, core::Cause::disk);
  EXPECT_EQ(newest().title, "trainer: disk, nothing can be kept");
  now_ += 1000;
  crash(core::Stage::backoff, core::Cause::nan);
  EXPECT_EQ(newest().kind, Kind::loss);
  EXPECT_EQ(newest().title, "trainer: nan, starting again");
}

// It lasts until what was lost is there again, and not until the next look.
TEST_F(Texts, ThatItBeginsAnewIsNotOverWithItsNextAttempt) {
  state_.stage = core::Stage::launching;
  state_.history.kept_step = {};
  hear(core::CheckpointSelected{"", {}, ""}, {core::RecordAttemptBegun{13, true}});
  ASSERT_EQ(newest().kind, Kind::no_checkpoint);
  for (const std::int64_t step : {0, 0, 10, 3199}) {
    now_ += 2'000;
    hear(core::CheckpointSelected{step == 0 ? "" : "/c", {step}, ""}, {});
    EXPECT_EQ(newest().kind, Kind::no_checkpoint) << step;
  }
  hear(core::CheckpointSelected{"/c", {3200}, ""}, {});
  EXPECT_EQ(newest().kind, Kind::recovered);
}

TEST_F(Texts, WhatIsMissingIsToldAfterAWhileAndOverWhenItIsBack) {
  state_.history.missing_since = {now_};
  state_.stage = core::Stage::backoff;
  for (int look = 1; look <= 5; ++look) {
    now_ += 2'000;
    state_.history.missing = look;
    hear(
        core::CheckpointSelected{
            "", {}, "step 3200 was verified in /nas, which is not there now", true},
        {});
    EXPECT_EQ(receiver_.told(Kind::no_checkpoint).size(), look < 3 ? 0U : 1U) << look;
  }
  EXPECT_NE(newest().text.find("which is not there now"), std::string::npos) << newest().text;
  state_.history.missing = 0;
  state_.stage = core::Stage::launching;
  hear(core::CheckpointSelected{"/nas/3200", {3200}, ""}, {});
  EXPECT_EQ(newest().kind, Kind::recovered);
}

// Nothing was kept yet: the first one is to come from a server of others.
TEST_F(Texts, WhatIsAskedForElsewhereIsToldAfterTenMinutes) {
  state_.stage = core::Stage::backoff;
  state_.history.kept_step = {};
  const core::CheckpointSelected asked{
      "", {}, "no checkpoint is here: training waits for 'hub'", true};
  state_.stage = core::Stage::launching;
  state_.current.from_scratch = true;
  hear(core::CheckpointSelected{}, {});
  state_.stage = core::Stage::backoff;
  state_.history.missing_since = {now_};
  const auto before = receiver_.told(Kind::no_checkpoint).size();
  for (int look = 1; look <= 20; ++look) {
    state_.history.missing = look;
    now_ += 29'000;
    hear(asked, {});
    EXPECT_EQ(receiver_.told(Kind::no_checkpoint).size(), before) << look;
  }
  now_ += 30'000;
  hear(asked, {});
  EXPECT_EQ(receiver_.told(Kind::no_checkpoint).size(), before + 1);
}

// Whoever asks for step 0 knows of it.
TEST_F(Texts, FromScratchIsNoTrouble) {
  state_.stage = core::Stage::launching;
  state_.current.from_scratch = true;
  const auto before = receiver_.told().size();
  hear(core::CheckpointSelected{"", {}, ""}, {core::RecordAttemptBegun{13, true}});
  EXPECT_EQ(receiver_.told().size(), before);
}

TEST_F(Texts, DoneIsToldWithWhatItCloses) {
  crash();
  now_ += 200'000;
  state_.stage = core::Stage::exited;
  state_.wanted = false;
  state_.history.last_cause = core::Cause::done;
  state_.current.last_step = {50'000};
  hear(core::WorkerExited{},
       {core::RecordAttemptEnded{13, 0, {}, core::Cause::done, "done", {}, {}}});
  ASSERT_EQ(receiver_.told().size(), 2U);
  EXPECT_EQ(newest().title, "trainer: done at step 50,000");
  EXPECT_TRUE(newest().resolves);
  EXPECT_EQ(newest().episode, receiver_.told()[0].episode);
}

TEST_F(Texts, DoneBeforeTheLastStepIsSaidToBeSo) {
  state_.stage = core::Stage::exited;
  state_.wanted = false;
  state_.history.last_cause = core::Cause::done;
  state_.current.last_step = {6};
  state_.reason = "done at step 6: exit code 0, but at step 6 of 100";
  hear(core::WorkerExited{},
       {core::RecordAttemptEnded{13, 0, {}, core::Cause::done, "done", {}, {}}});
  EXPECT_NE(newest().text.find("but at step 6 of 100"), std::string::npos) << newest().text;
}

TEST_F(Texts, PlannedEndsAreNobodysTrouble) {
  for (const core::Cause cause :
       {core::Cause::stopped, core::Cause::planned_restart, core::Cause::try_again,
        core::Cause::memory_leak, core::Cause::larger_mesh}) {
    crash(core::Stage::backoff, cause);
  }
  EXPECT_TRUE(receiver_.told().empty());
}

}  // namespace
}  // namespace trainward::notify
