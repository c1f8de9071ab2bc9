// The rows of what people are told: with their event or not at all, and after a restart as before.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/os/clock.hpp"
#include "supervisor/daemon/notify/program_news.hpp"
#include "supervisor/daemon/notify/upload_news.hpp"
#include "supervisor/daemon/service/status_words.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class NoRecords final : public session::Records {
 public:
  Status record(const session::Happening&, const core::State&,
                std::span<const core::Action>) override {
    return {};
  }
  Status save(const core::State&, Time, std::optional<session::JournalPlace>) override {
    return {};
  }
  void settle(bool) override {}
};

class NewsOfAProgram : public testing::Test {
 protected:
  NewsOfAProgram() {
    EXPECT_TRUE(store_.put_program({"run", "RUNNING", "", "", "{}", 1, 0}).has_value());
    EXPECT_TRUE(news_.begin().has_value());
    begin_anew();
    state_.stage = core::Stage::training;
    state_.wanted = true;
    state_.attempt = 1;
    say(core::Alive{}, {}, true);
  }

  // As a new daemon does.
  void begin_anew() {
    program_.emplace(loop_, news_, store_, records_, "run", core::Policy{},
                     [this]() -> const core::State& { return state_; });
    ASSERT_TRUE(program_->recover(now().wall.ms).has_value());
  }
  void say(const core::Event& event, std::vector<core::Action> actions, bool commits) {
    auto transaction = store_.begin();
    ASSERT_TRUE(transaction.has_value());
    ASSERT_TRUE(program_->record({event, now()}, state_, actions).has_value());
    ASSERT_TRUE(program_->save(state_, now(), {}).has_value());
    ASSERT_TRUE(!commits || transaction->commit().has_value());
    { const auto rolled_back = std::move(*transaction); }
    program_->settle(commits);
  }
  void crash(core::Stage then, bool commits) {
    state_.stage = then;
    state_.history.last_cause = core::Cause::crash;
    say(core::WorkerExited{},
        {core::RecordAttemptEnded{state_.attempt, 1, {}, core::Cause::crash, "exit 1", {}, {}}},
        commits);
  }
  [[nodiscard]] std::vector<store::MessageRow> told() const {
    auto rows = store_.messages_after(0, 100).value();
    std::erase_if(rows, [](const store::MessageRow& row) { return row.dropped; });
    return rows;
  }

  TemporaryFolder folder_;
  Loop loop_;
  store::Store store_ = store::Store::open(folder_.path() / "trainward.db").value();
  News news_{loop_, store_, {}, folder_.path()};
  NoRecords records_;
  core::State state_;
  std::optional<ProgramNews> program_;
};

// A bit that flipped, or another release's words: the trouble must not stand in the way of the
// next.
TEST_F(NewsOfAProgram, AnEpisodeThatCannotBeReadIsClosedAndTheNextOneIsToldOf) {
  for (const char* memory :
       {"", "{}", "no JSON", "[]", "{\"id\":\"x\"}", "{\"id\":7,\"family\":\"loss\"}"}) {
    SCOPED_TRACE(memory);
    crash(core::Stage::backoff, true);
    auto open = store_.open_episodes("run").value();
    ASSERT_EQ(open.size(), 1U);
    const std::string tier = open.front().tier;
    open.front().memory = memory;
    ASSERT_TRUE(store_.put_episode(open.front()));
    const std::size_t before = told().size();
    begin_anew();
    EXPECT_TRUE(store_.open_episodes("run").value().empty());
    // Those after the first are spared, within a day.
    EXPECT_EQ(told().size(), before + (tier.empty() ? 0 : 1)) << "those who heard of its begin";
    if (!tier.empty()) {
      EXPECT_EQ(told().back().kind, "recovered");
    }
    state_.stage = core::Stage::training;
    ++state_.attempt;
    say(core::Alive{}, {}, true);
  }
  crash(core::Stage::backoff, true);
  EXPECT_EQ(store_.open_episodes("run").value().size(), 1U);
}

TEST_F(NewsOfAProgram, ALongLineIsCutBetweenTwoCharacters) {
  std::string line = "x";
  for (int i = 0; i < 200; ++i) line += "\u8bad";  // three bytes each
  state_.stage = core::Stage::backoff;
  state_.history.last_cause = core::Cause::crash;
  core::RecordAttemptEnded ended{state_.attempt, 1, {}, core::Cause::crash, "exit 1", {}, {}};
  ended.evidence.push_back({"log rule", 60, core::Cause::crash, line, ""});
  say(core::WorkerExited{}, {ended}, true);
  begin_anew();
  EXPECT_EQ(store_.open_episodes("run").value().size(), 1U) << "it was read again";
}

TEST_F(NewsOfAProgram, WhatWasNotCommittedWasNotToldAndIsToldWhenItIs) {
  crash(core::Stage::fatal, false);
  EXPECT_TRUE(told().empty());
  EXPECT_TRUE(store_.open_episodes("run").value().empty());
  crash(core::Stage::fatal, true);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].kind, "gave_up");
  const auto open = store_.open_episodes("run").value();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].id, told()[0].episode);
  EXPECT_EQ(open[0].tier, "critical");
  EXPECT_EQ(open[0].cause, "crash");
}

TEST_F(NewsOfAProgram, ANewDaemonGoesOnWithTheSameEpisode) {
  crash(core::Stage::backoff, true);
  begin_anew();
  say(core::DaemonStarted{}, {}, true);
  EXPECT_EQ(told().size(), 1U);
  state_.attempt = 2;
  crash(core::Stage::backoff, true);
  ASSERT_EQ(told().size(), 1U) << "the first was taken back";
  begin_anew();
  state_.attempt = 3;
  state_.stage = core::Stage::training;
  state_.history.kept_step = {50};
  say(core::CheckpointVerified{3, "/c", {50}, 1, ""},
      {core::RecordCheckpoint{3, "/c", {50}, 1, ""}}, true);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].kind, "recovered");
  EXPECT_TRUE(store_.open_episodes("run").value().empty());
  begin_anew();
  say(core::Alive{}, {}, true);
  EXPECT_EQ(told().size(), 1U);
}

TEST_F(NewsOfAProgram, TroublesOfOthersAreToldOnceAndAreOver) {
  for (int i = 0; i < 3; ++i) {
    news_.stands(notify::Kind::upload, "run", "upload hub", "upload to hub fails",
                 "nothing was uploaded to hub for 1 h: HTTP 503");
  }
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].title, "run: upload to hub fails");
  begin_anew();  // it is not the program's own to close
  crash(core::Stage::backoff, true);
  EXPECT_EQ(told().size(), 2U);
  news_.over("run", "upload hub", "uploads to hub work again");
  news_.over("run", "upload hub", "uploads to hub work again");
  ASSERT_EQ(told().size(), 3U);
  EXPECT_EQ(told()[2].episode, told()[0].episode);
}

// As often as the documents say, whatever `repeat` is for what is critical.
TEST_F(NewsOfAProgram, ADatabaseThatRefusesNowAndThenIsToldOnce) {
  notify::Policy policy;
  policy.repeat_ms = 0;
  News news(loop_, store_, {policy}, folder_.path());
  ASSERT_TRUE(news.begin().has_value());
  for (int i = 0; i < 3; ++i) news.refused({ErrorKind::transient, "disk full", "", ""}, 600'000);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].kind, "database");
  EXPECT_EQ(told()[0].tier, "warning");
}

// An hour, and once: an hour's outage of a hub is nobody's night.
TEST_F(NewsOfAProgram, AnUploadThatFailsForAnHourIsToldUntilItIsOver) {
  Background background(loop_);
  UploadNews uploads(loop_, background, store_, news_, folder_.path());
  const std::int64_t now_ms = now().wall.ms;
  uploads.take({{"upload run/hub", now_ms - 3'000'000, "HTTP 503"}}, now_ms);
  EXPECT_TRUE(told().empty());
  const std::vector<courier::FailingJob> failing{
      {"channel night", now_ms - 9'000'000, "no connection"},
      {"upload run/hub", now_ms - 3'660'000, "hub.example: HTTP 503"}};
  uploads.take(failing, now_ms);
  uploads.take(failing, now_ms + 300'000);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].kind, "upload");
  EXPECT_EQ(told()[0].tier, "warning");
  EXPECT_EQ(told()[0].title, "run: uploads to hub fail");
  EXPECT_NE(told()[0].message.find("hub.example: HTTP 503"), std::string::npos);
  uploads.take({}, now_ms + 600'000);
  uploads.take({}, now_ms + 900'000);
  ASSERT_EQ(told().size(), 2U);
  EXPECT_EQ(told()[1].episode, told()[0].episode);
  EXPECT_TRUE(store_.open_episodes("run").value().empty());
}

TEST_F(NewsOfAProgram, WhatUploadsFareIsReadInTheCouriersJournal) {
  auto db =
      store::Connection::open(folder_.path() / "courier.db", store::Connection::Mode::read_write)
          .value();
  EXPECT_TRUE(courier::failing_jobs(folder_.path()).value().empty()) << "no table yet";
  ASSERT_TRUE(
      db->script("create table jobs (name text, state text, since_ms integer, error text);"
                 "insert into jobs values ('upload run/hub', 'failing', 5, 'HTTP 503');"
                 "insert into jobs values ('channel night', 'working', 6, '')"));
  const auto failing = courier::failing_jobs(folder_.path()).value();
  ASSERT_EQ(failing.size(), 1U);
  EXPECT_EQ(failing[0].name, "upload run/hub");
  EXPECT_EQ(failing[0].since_ms, 5);
  EXPECT_EQ(failing[0].error, "HTTP 503");
}

// An alert would last for ever, as nobody is left to end it.
TEST_F(NewsOfAProgram, WithTheProgramItsTroublesAreOver) {
  crash(core::Stage::fatal, true);
  ASSERT_EQ(told().size(), 1U);
  program_.reset();
  news_.removed("run");
  ASSERT_EQ(told().size(), 2U);
  EXPECT_EQ(told()[1].episode, told()[0].episode);
  EXPECT_NE(told()[1].message.find("\"resolves\":true"), std::string::npos);
  EXPECT_TRUE(store_.open_episodes("run").value().empty());
}

// Who takes no digests is told it, so it stays in the outbox.
TEST_F(NewsOfAProgram, TheDigestNamesWhatWaitedForItAndWhatItTells) {
  const std::int64_t now_ms = now().wall.ms;
  const std::int64_t day_ago = now_ms - 86'400'000;
  ASSERT_TRUE(store_.put_telling("", R"({"sent_ms":)" + std::to_string(day_ago) +
                                         R"(,"looked_ms":)" + std::to_string(day_ago) + "}"));
  notify::Policy policy;
  policy.digest = notify::minute_of_day(now_ms, news_.around().zone);
  const std::int64_t due = notify::next_at(*policy.digest, now_ms - 60'000, news_.around().zone);
  store::MessageRow held;
  held.id = now_ms - 3'600'000;
  held.at_ms = held.id;
  held.not_before_ms = due + notify::after_digest_ms;
  held.tier = "warning";
  held.kind = "crashed";
  held.title = "run: crashed in the night";
  held.message = "{}";
  ASSERT_TRUE(store_.add_message(held));
  News news(loop_, store_, policy, folder_.path());
  ASSERT_TRUE(news.begin());
  Timer timer(loop_);
  std::function<void()> look = [&] {
    if (told().size() == 2) return loop_.stop();
    timer.after(5, look);
  };
  look();
  loop_.run();
  const auto rows = told();
  ASSERT_EQ(rows.size(), 2U) << "nothing is taken back";
  EXPECT_EQ(rows[1].kind, "digest");
  EXPECT_NE(rows[1].message.find("crashed in the night"), std::string::npos);
  EXPECT_NE(rows[1].message.find("\"tells\":[" + std::to_string(held.id) + "]"), std::string::npos)
      << rows[1].message;
}

TEST_F(NewsOfAProgram, ARefusalIsToldWhenItLasted) {
  const Error full{ErrorKind::transient, "disk full", "", ""};
  news_.refused(full, 5'000);
  EXPECT_TRUE(told().empty());
  news_.refused(full, 600'000);
  news_.refused(full, 600'000);
  ASSERT_EQ(told().size(), 1U) << "what comes and goes is told once in a while";
  EXPECT_EQ(told()[0].title, "trainwardd: the run database refused for 10 min 00 s");
}

TEST(StatusWords, NameWhatWasGivenUp) {
  EXPECT_EQ(status_words(2, {}), "Supervising 2 programs");
  const std::array<GivenUp, 1> one{{{"trainer", core::Cause::device_oom}}};
  EXPECT_EQ(
      status_words(2, one),
      "Supervising 2 programs; FATAL: trainer (device_oom); your action is needed: trainwardctl "
      "why trainer");
  const std::vector<GivenUp> many(5, {"a\nb", core::Cause::hang});
  EXPECT_EQ(status_words(9, many),
            "Supervising 9 programs; FATAL: a b (hang), a b (hang), a b (hang) and 2 more; your "
            "action is needed: trainwardctl status");
}

}  // namespace
}  // namespace trainward::daemon
