// Who is told what, in which order, and what takes the place of what.
#include "common/os/clock.hpp"
#include "fixture.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using test::HttpScript;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HttpScript::Handler always(int status = 200) {
  return [status](const test::HttpRequest&) { return test::HttpStep{.status = status}; };
}

TEST_F(ChannelTest, TellsInTheOrderOfTheOutbox) {
  HttpScript server(always());
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto first = tell("one");
  tell("two", "info");
  tell("three", "critical");
  work();
  EXPECT_THAT(titles(server), ElementsAre("one", "two", "three"));
  EXPECT_EQ(told(first).state, "sent");
  EXPECT_EQ(told(first).tries, 1);
  EXPECT_EQ(int_or(channel_row(), "failing_since_ms", -1), 0);
  EXPECT_GE(int_or(channel_row(), "last_ok_ms", 0), epoch_ms);
  work();
  EXPECT_EQ(server.requests().size(), 3U) << "told again";
}

TEST_F(ChannelTest, ANewChannelIsNotToldOfThePast) {
  HttpScript server(always());
  tell("long ago");
  now_ms_ += 3'600'000;
  tell("just before the courier came up");
  now_ms_ += 2'000;
  begin(channel(ChannelKind::webhook, server.url("")));
  tell("now");
  work();
  EXPECT_THAT(titles(server), ElementsAre("just before the courier came up", "now"));
}

TEST_F(ChannelTest, TakesItsTiersAlone) {
  HttpScript server(always());
  auto spec = channel(ChannelKind::webhook, server.url(""));
  spec.tiers = {"critical"};
  begin(spec);
  tell("warning", "warning");
  tell("info", "info");
  tell("critical", "critical");
  work();
  EXPECT_THAT(titles(server), ElementsAre("critical"));
}

TEST_F(ChannelTest, SaysThatATroubleIsOverToWhomItWasTold) {
  HttpScript server(always());
  auto spec = channel(ChannelKind::webhook, server.url(""));
  spec.tiers = {"critical"};
  begin(spec);
  tell("gave up", "critical", 5);
  work();
  tell("recovered", "info", 5, true);
  tell("another recovered", "info", 6, true);
  work();
  EXPECT_THAT(titles(server), ElementsAre("gave up", "recovered"));
}

TEST_F(ChannelTest, OfATroubleThatWasTakenBackNobodyHearsThatItIsOver) {
  HttpScript server(always());
  auto spec = channel(ChannelKind::webhook, server.url(""));
  spec.tiers = {"warning"};
  begin(spec);
  const auto held = tell("crashed", "warning", 5, false, 90'000);
  work();
  ASSERT_TRUE(store_->drop_message(held));
  tell("recovered", "info", 5, true);
  now_ms_ += 90'000;
  work();
  EXPECT_THAT(titles(server), IsEmpty());
  EXPECT_EQ(told(held).state, "skipped");
}

TEST_F(ChannelTest, OneThatWasTakenOutOfTheConfigurationBeginsAnew) {
  HttpScript server{{.status = 503}, {}, {}};
  const auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  const auto waits = tell("waits");
  work();
  ASSERT_EQ(told(waits).state, "waiting");
  ASSERT_TRUE(forget_other_channels(*journal_, {}, now_ms_));
  EXPECT_EQ(told(waits).state, "skipped");
  EXPECT_THAT(told(waits).error, HasSubstr("taken out of the configuration"));
  EXPECT_TRUE(channel_row().empty());
  tell("unheard");
  now_ms_ += 3'600'000;
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 7});
  work();
  const auto heard = tell("heard");
  work();
  EXPECT_EQ(told(heard).state, "sent");
  EXPECT_EQ(titles(server).back(), "heard");
}

TEST_F(ChannelTest, WhatIsHeldBackHoldsNothingElseUp) {
  HttpScript server(always());
  begin(channel(ChannelKind::webhook, server.url("")));
  tell("held", "warning", 0, false, 90'000);
  tell("urgent", "critical");
  EXPECT_EQ(work(), now_ms_ + 90'000);
  EXPECT_THAT(titles(server), ElementsAre("urgent"));
  now_ms_ += 90'000;
  work();
  EXPECT_THAT(titles(server), ElementsAre("urgent", "held"));
}

TEST_F(ChannelTest, WhatIsTakenBackIsNotTold) {
  HttpScript server(always());
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto held = tell("held", "warning", 0, false, 90'000);
  work();
  ASSERT_TRUE(store_->drop_message(held));
  now_ms_ += 90'000;
  work();
  EXPECT_THAT(titles(server), IsEmpty());
  EXPECT_EQ(told(held).state, "skipped");
}

TEST_F(ChannelTest, TheNewerOfAnEpisodeTakesThePlaceOfTheOlder) {
  HttpScript server(always());
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto crashed = tell("crashed", "warning", 5, false, 90'000);
  const auto other = tell("other trouble", "warning", 6, false, 90'000);
  work();
  const auto gave_up = tell("gave up", "critical", 5);
  work();
  EXPECT_EQ(told(crashed).state, "replaced");
  now_ms_ += 90'000;
  work();
  EXPECT_THAT(titles(server), ElementsAre("gave up", "other trouble"));
  EXPECT_EQ(told(gave_up).state, "sent");
  EXPECT_EQ(told(other).state, "sent");
}

// Who takes no digests would otherwise never hear of what happened in quiet hours.
TEST_F(ChannelTest, TheDigestTakesThePlaceOfWhatItTellsWhereItIsTaken) {
  for (const bool takes_digests : {true, false}) {
    SCOPED_TRACE(takes_digests);
    HttpScript server(always());
    auto spec = channel(ChannelKind::webhook, server.url(""));
    spec.name = takes_digests ? "all" : "urgent";
    spec.tiers = {"critical", "warning"};
    if (takes_digests) spec.tiers.emplace_back("info");
    begin(spec);
    tell("gave up", "critical", 5);
    work();
    const auto crashed = tell("crashed", "warning", 7, false, 600'000);
    const auto recovered = tell("recovered", "info", 5, true, 600'000);
    work();
    tell_digest({crashed, recovered});
    work();
    now_ms_ += 600'000;
    work();
    if (takes_digests) {
      EXPECT_THAT(titles(server), ElementsAre("gave up", "Digest"));
    } else {
      EXPECT_THAT(titles(server), ElementsAre("gave up", "crashed", "recovered"));
    }
    now_ms_ += 3'600'000;
  }
}

TEST_F(ChannelTest, WhatComesToLightAfterMoreThanADayIsNotNews) {
  HttpScript server(always());
  const auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  const auto old = tell("old");
  now_ms_ += 25 * 3'600'000LL;
  const auto fresh = tell("fresh");
  work();
  EXPECT_EQ(told(old).state, "skipped");
  EXPECT_EQ(told(fresh).state, "sent");
}

TEST_F(ChannelTest, OneThatBecameAPingHasNothingLeftToTell) {
  HttpScript server{{.status = 503}};
  auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  const auto waits = tell("waits");
  work();
  spec.kind = ChannelKind::ping;
  ASSERT_TRUE(forget_other_channels(*journal_, {spec}, now_ms_));
  EXPECT_EQ(told(waits).state, "skipped");
  EXPECT_FALSE(channel_row().empty());
}

TEST_F(ChannelTest, WhatIsAMonthOldIsForgottenAlsoByOneThatNeverEnds) {
  HttpScript server(always());
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto old = tell("old");
  work();
  now_ms_ += 31 * 86'400'000LL;
  const auto fresh = tell("fresh");
  work();
  EXPECT_EQ(told(old).state, "");
  EXPECT_EQ(told(fresh).state, "sent");
}

// A disk that is full the moment the answer comes.
TEST_F(ChannelTest, WhatTheJournalDidNotTakeIsToldAgain) {
  for (const auto kind : {ChannelKind::slack, ChannelKind::alertmanager}) {
    HttpScript server{{.status = 503}, {}, {}};
    auto spec = channel(kind, server.url(""));
    spec.name = orders::facts(kind).name;
    begin(spec);
    ASSERT_TRUE(journal_->transact([](store::Connection& db) {
      return db.script(
          "create trigger full before insert on deliveries when new.state <> 'sending' and "
          "new.tries > 0 begin select raise(abort, 'disk is full'); end");
    }));
    const auto message = tell("one");
    auto reader = store::Store::open_read_only(database());
    EXPECT_FALSE(job_->work({*reader, *journal_, now_ms_, stop_.get_token()}));
    ASSERT_EQ(server.requests().size(), 1U);
    ASSERT_TRUE(
        journal_->transact([](store::Connection& db) { return db.script("drop trigger full"); }));
    now_ms_ += 60'000;
    work();
    EXPECT_EQ(server.requests().size(), 2U);
    EXPECT_EQ(told(message).state, kind == ChannelKind::slack ? "perhaps_twice" : "sent");
    now_ms_ += 600'000;
  }
}

TEST_F(ChannelTest, ADamagedJournalLosesNothingThatWaits) {
  const std::int64_t today = now().wall.ms;
  HttpScript server{{.status = 503}, {}};
  const auto spec = channel(ChannelKind::slack, server.url(""));
  now_ms_ = today - 36 * 3'600'000LL;
  begin(spec);
  const auto old = tell("old");
  now_ms_ = today - 3'600'000;
  const auto failed = tell("failed");
  work();
  ASSERT_EQ(told(failed).state, "waiting");
  journal_.reset();
  for (const char* part : {"-wal", "-shm"}) {
    std::filesystem::remove((folder_.path() / journal_name).string() + part);
  }
  folder_.write(journal_name, std::string(8192, 'x'));
  open_journal();
  EXPECT_GT(journal_->made_after_damage_ms(), 0);
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 7});
  now_ms_ = now().wall.ms;
  work();
  EXPECT_EQ(told(old).state, "") << "it is more than a day old";
  EXPECT_EQ(told(failed).state, "perhaps_twice");
  open_journal();
  EXPECT_GT(journal_->made_after_damage_ms(), 0) << "also for the next process";
}

TEST_F(ChannelTest, AClockThatIsSetBackHoldsNothingUp) {
  HttpScript server{{.status = 503}, {}, {}};
  begin(channel(ChannelKind::webhook, server.url("")));
  const auto failed = tell("failed");
  const auto held = tell("held", "warning", 0, false, 90'000);
  work();
  now_ms_ -= 30 * 86'400'000LL;
  work();
  EXPECT_EQ(told(failed).state, "sent");
  EXPECT_EQ(told(held).state, "sent");
}

TEST_F(ChannelTest, WhatFailsIsSaidUntilItWorks) {
  HttpScript server{{.status = 503}, {}};
  begin(channel(ChannelKind::webhook, server.url("")));
  EXPECT_EQ(job_->trouble().what, "");
  tell("one");
  const std::int64_t next = work();
  EXPECT_THAT(job_->trouble().what, HasSubstr("HTTP 503"));
  EXPECT_EQ(job_->trouble().next_ms, next);
  now_ms_ = next;
  work();
  EXPECT_EQ(job_->trouble().what, "");
}

TEST_F(ChannelTest, AfterTheEndOfTheProcessItIsToldAgainWithTheSameId) {
  HttpScript server(always());
  const auto spec = channel(ChannelKind::webhook, server.url(""));
  begin(spec);
  const auto message = tell("one");
  work();
  // As it was on record when the process ended between the request and its answer.
  ASSERT_TRUE(journal_->transact(
      [](store::Connection& db) { return db.run("update deliveries set state = 'sending'"); }));
  open_journal();
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 7});
  work();
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].header("webhook-id"), requests[1].header("webhook-id"));
  EXPECT_EQ(requests[0].body, requests[1].body);
  EXPECT_EQ(told(message).state, "sent") << "the receiver knows a repetition by its id";
}

TEST_F(ChannelTest, WhereRepetitionsAreNotKnownItIsOnRecordAsPerhapsTwice) {
  HttpScript server(always());
  const auto spec = channel(ChannelKind::slack, server.url(""));
  begin(spec);
  const auto message = tell("one");
  work();
  ASSERT_TRUE(journal_->transact(
      [](store::Connection& db) { return db.run("update deliveries set state = 'sending'"); }));
  job_ = make_channel_job(spec, {{"box", "run0"}, {}, 7});
  work();
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(told(message).state, "perhaps_twice");
}

TEST_F(ChannelTest, ASecretThatIsReplacedCountsAtOnce) {
  HttpScript server([](const test::HttpRequest& request) {
    return test::HttpStep{.status = request.header("authorization") == "Bearer new" ? 200 : 503};
  });
  const auto spec = channel(ChannelKind::ntfy, server.url(""));
  begin(spec);
  const auto message = tell("one");
  work();
  EXPECT_EQ(told(message).state, "waiting");
  secret_file("token", "new\n");
  now_ms_ += 10'000;
  work();
  EXPECT_EQ(told(message).state, "sent");
}

TEST_F(ChannelTest, ASecretThatCannotBeReadIsTriedAgainAndSaid) {
  HttpScript server(always());
  const auto spec = channel(ChannelKind::slack, server.url(""));
  begin(spec);
  const auto message = tell("one");
  const std::string file = spec.secrets.at("url").file;
  const std::string kept = folder_.path() / "kept";
  std::filesystem::rename(file, kept);
  work();
  EXPECT_EQ(told(message).state, "waiting");
  EXPECT_THAT(told(message).error, HasSubstr(file));
  std::filesystem::rename(kept, file);
  ::chmod(file.c_str(), 0644);
  now_ms_ += 20'000;
  work();
  EXPECT_THAT(told(message).error, HasSubstr("chmod 600"));
  EXPECT_EQ(server.requests().size(), 0U);
  ::chmod(file.c_str(), 0600);
  now_ms_ += 60'000;
  work();
  EXPECT_EQ(told(message).state, "sent");
}

}  // namespace
}  // namespace trainward::courier
