// The commands when no daemon runs: from the database, or one clear line.
#include <fstream>

#include "fake_daemon.hpp"
#include "fixture.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OfflineTest : public CtlTest {
 protected:
  void fill() const {
    auto store = store::Store::open(folder_ / "trainward.db");
    ASSERT_TRUE(store.has_value()) << store.error().message();
    ASSERT_TRUE(store->put_program({"a", "EXITED", "done", "", "", now_ms - 180'000, 0}));
    store::AttemptRow attempt;
    attempt.program = "a";
    attempt.number = 1;
    attempt.started_ms = now_ms - 240'000;
    attempt.ended_ms = now_ms - 180'000;
    attempt.exit_code = 0;
    attempt.cause = "done";
    attempt.verdict = "It finished.";
    ASSERT_TRUE(store->put_attempt(attempt));
    ASSERT_TRUE(store->add_event({0, now_ms - 200'000, "a", 1, "exit", "exit 0"}));
    ASSERT_TRUE(store->put_checkpoint("a", {"/c/step-1", 1, 1, 10, "verified", "", now_ms}));
  }
};

TEST_F(OfflineTest, WithoutADatabaseOneClearLine) {
  for (const char* verb : {"status", "history", "events"}) {
    const Ran ran = ctl({verb});
    EXPECT_EQ(ran.code, 4) << verb;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr("start trainwardd"));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  }
}

// One that is there and cannot be read is not called missing.
TEST_F(OfflineTest, ADatabaseThatCannotBeReadIsNamedWithTheReason) {
  std::ofstream(folder_ / "trainward.db") << std::string(4096, 'x');
  for (const char* verb : {"status", "top"}) {
    const Ran ran = ctl({"--json", verb});
    EXPECT_EQ(ran.code, 4) << verb;
    EXPECT_THAT(ran.out + ran.err,
                AllOf(HasSubstr("trainward.db"), Not(HasSubstr("there is no run database"))));
  }
}

TEST_F(OfflineTest, StatusFromTheDatabaseSaysSo) {
  fill();
  const Ran ran = ctl({"status"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "a                                EXITED    since 22:40, 3 min ago: done\n");
  EXPECT_EQ(ran.err, "trainwardd is not running (" + socket().string() +
                         "); answering from the database, as of 3 min ago\n");
}

TEST_F(OfflineTest, ReadingCommandsAnswer) {
  fill();
  EXPECT_THAT(ctl({"history"}).out, HasSubstr("It finished."));
  EXPECT_THAT(ctl({"why", "a"}).out, HasSubstr("trainwardctl report a"));
  EXPECT_THAT(ctl({"report", "a"}).out, HasSubstr("1: done 1"));
  EXPECT_THAT(ctl({"events"}).out, HasSubstr("a #1"));
  EXPECT_THAT(ctl({"ckpt", "list"}).out, HasSubstr("/c/step-1"));
  EXPECT_THAT(ctl({"ckpt", "list", "a"}).out, HasSubstr("/c/step-1"));
  EXPECT_EQ(ctl({"probe"}).code, 3);
  EXPECT_THAT(ctl({"boards"}).out, HasSubstr("No board has been looked at yet"));
  EXPECT_THAT(ctl({"boards", "ff"}).err, HasSubstr("no such board: ff"));
}

// There is nobody to ask for a start.
TEST_F(OfflineTest, WhyNamesAStepThatCanBeTaken) {
  fill();
  auto store = store::Store::open(folder_ / "trainward.db");
  ASSERT_TRUE(store->put_program({"b", "FATAL", "gave up", "", "", now_ms, 0}));
  ASSERT_TRUE(store->put_program({"c", "BACKOFF", "a crash", "", "", now_ms, 0}));
  EXPECT_THAT(ctl({"why", "b"}).out,
              testing::AllOf(HasSubstr("then: start trainwardd with the command you used before"),
                             Not(HasSubstr("trainwardctl start"))));
  EXPECT_THAT(ctl({"why", "c"}).out, HasSubstr("Next: Start trainwardd with the command"));
}

TEST_F(OfflineTest, TheOnlyProgramNeedsNoName) {
  fill();
  EXPECT_THAT(ctl({"why"}).out, HasSubstr("a, attempt 1: done"));
  EXPECT_THAT(ctl({"report"}).out, HasSubstr("Run a: EXITED"));
  auto store = store::Store::open(folder_ / "trainward.db");
  ASSERT_TRUE(store->put_program({"b", "STOPPED", "", "", "", now_ms, 0}));
  for (const char* verb : {"why", "report"}) {
    const Ran ran = ctl({verb});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr(std::string("trainwardctl ") + verb + " a|b"));
  }
}

TEST_F(OfflineTest, TailReadsTheFiles) {
  const auto write = [this](const std::string& name, const std::string& text) {
    const auto file = folder_ / "runs/a/attempts" / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  write("0001/stdout.log", "one\n");
  write("0002/stdout.log", "two\n");
  std::filesystem::create_directories(folder_ / "runs/a/attempts/0003");  // never had a worker
  const Ran ran = ctl({"tail", "a"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "two\n");
  EXPECT_THAT(ran.err, HasSubstr("reading its files in " + folder_.string()));
  EXPECT_EQ(ctl({"tail", "-2", "a"}).out, "o\n");
  EXPECT_EQ(ctl({"tail", "a", "stderr"}).code, 4);
  EXPECT_EQ(ctl({"tail", "../runs/a"}).code, 7) << "a name is no path";
  EXPECT_EQ(ctl({"maintail"}).code, 7);
}

TEST_F(OfflineTest, UnknownNamesAreSaidSo) {
  fill();
  EXPECT_EQ(ctl({"status", "nope"}).code, 4);
  for (const char* verb : {"history", "why", "report", "events"}) {
    const Ran ran = ctl({verb, "nope"});
    EXPECT_EQ(ran.code, 1) << verb;
    EXPECT_THAT(ran.err, HasSubstr("no such program: nope"));
  }
}

TEST_F(OfflineTest, CommandsThatActNeedADaemon) {
  fill();
  EXPECT_EQ(ctl({"start", "a"}).code, 7);
  { FakeDaemon stale(socket()); }
  const Ran refused = ctl({"stop", "all"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("trainwardd is not running"));
  EXPECT_EQ(ctl({"history"}).code, 0);
}

TEST_F(OfflineTest, JsonIsOneDocumentOnStdoutOnly) {
  fill();
  const Ran ran = ctl({"history", "--json"});
  const auto document = parse_json(ran.out, "stdout");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->at(0).at("cause").as_string(), "done");
  EXPECT_THAT(ran.err, HasSubstr("answering from the database"));
}

}  // namespace
}  // namespace trainward::ctl
