// The commands against a daemon that is up.
#include "fake_daemon.hpp"
#include "fixture.hpp"

namespace trainward::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class ControlTest : public CtlTest {
 protected:
  void SetUp() override {
    CtlTest::SetUp();
    daemon_ = std::make_unique<FakeDaemon>(socket());
    daemon_->answers("GET /v1/version", R"({"version":"0.1.0","api":1,"pid":4711})");
    daemon_->answers("GET /v1/programs",
                     R"([{"name":"a","state":"RUNNING","pid":11,"uptime_ms":1000},
                         {"name":"b","state":"STOPPED","reason":"Not started","pid":0}])");
  }
  void program(const std::string& verb, const std::string& name, const std::string& result, bool ok,
               const std::string& message = "") {
    daemon_->answers("POST /v1/programs/" + name + "/" + verb,
                     R"({"program":")" + name + R"(","result":")" + result + R"(","ok":)" +
                         (ok ? "true" : "false") + R"(,"message":")" + message + R"("})");
  }
  std::unique_ptr<FakeDaemon> daemon_;
};

TEST_F(ControlTest, StatusOfAllIsThreeWhenOneIsDown) {
  const Ran ran = ctl({"status"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out,
            "a                                RUNNING   pid 11, uptime 0:00:01\n"
            "b                                STOPPED   Not started\n");
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(ControlTest, StatusOfNamed) {
  EXPECT_EQ(ctl({"status", "a"}).code, 0);
  EXPECT_EQ(ctl({"status", "b"}).code, 3);
  const Ran unknown = ctl({"status", "a", "nope"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_THAT(unknown.out, HasSubstr("nope: ERROR (no such process)\n"));
  EXPECT_EQ(ctl({"status", "b", "nope"}).code, 3);
}

TEST_F(ControlTest, AnUnkillableProgramIsNotFine) {
  daemon_->answers("GET /v1/programs",
                   R"([{"name":"a","state":"UNKILLABLE","reason":"the kernel keeps it"}])");
  EXPECT_EQ(ctl({"status", "a"}).code, 0);
  EXPECT_EQ(ctl({"status", "a"}).code, 3);
}

TEST_F(ControlTest, StatusTellsWhatTheDaemonSuffersFrom) {
  daemon_->answers("GET /v1/version", R"({"trouble":["the run database refuses: disk full"]})");
  EXPECT_EQ(ctl({"version"}).code, 0);  // the answer without trouble
  const Ran ran = ctl({"status", "a"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "trainwardd: the run database refuses: disk full\n");
}

TEST_F(ControlTest, StatusTellsWhatIsNotDeliveredAndWhatIsUnderWay) {
  const std::string table = ctl({"status"}).out;
  daemon_->answers("GET /v1/deliveries",
                   R"({"courier":{"needed":true,"trouble":""},
                       "jobs":[{"name":"channel night","state":"failing","since_ms":0,
                                "error":"ntfy.sh: no\u001b[31m connection","next_ms":0}],
                       "uploads":[{"program":"a","target":"hub","name":"step-00000010",
                                   "state":"sending","bytes":2048,"sent_bytes":1024}]})");
  const Ran ran = ctl({"status"});
  EXPECT_EQ(ran.code, 3) << "as before";
  EXPECT_EQ(ran.out, table +
                         "!! channel night fails: ntfy.sh: no?[31m connection\n"
                         "a uploads step-00000010 to hub: 1 KiB of 2 KiB (50 %)\n");
  EXPECT_THAT(ctl({"status", "a"}).out, Not(HasSubstr("ntfy"))) << "of one program";
}

TEST_F(ControlTest, AFullDaemonIsSaidSo) {
  daemon_->answers("GET /v1/programs",
                   {503,
                    R"({"error":{"kind":"transient","what":"64 clients are connected already",)"
                    R"("where":"","hint":"try again in a moment"}})",
                    "Retry-After: 1\r\n", false});
  EXPECT_EQ(ctl({"status"}).code, 3);  // there was a place
  const Ran ran = ctl({"status"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_EQ(ran.err, "trainwardctl: 64 clients are connected already (try again in a moment)\n");
}

TEST_F(ControlTest, StatusAsJson) {
  const Ran ran = ctl({"--json", "status", "a"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, R"([{"name":"a","state":"RUNNING","pid":11,"uptime_ms":1000}])"
                     "\n");
}

TEST_F(ControlTest, StartSaysWhatHappened) {
  program("start", "a", "already started", false);
  program("start", "b", "started", true);
  const Ran ran = ctl({"start", "a", "b"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "a: ERROR (already started)\nb: started\n");
}

TEST_F(ControlTest, StartThatFails) {
  program("start", "a", "spawn error", false, "trainward-shim was not found");
  const Ran ran = ctl({"start", "a"});
  EXPECT_EQ(ran.code, 7);
  EXPECT_EQ(ran.out, "a: ERROR (spawn error)\n");
  EXPECT_EQ(ran.err, "a: trainward-shim was not found\n");
}

TEST_F(ControlTest, StartOfAnUnknownProgram) {
  const Ran ran = ctl({"start", "nope"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "nope: ERROR (no such process)\n");
}

TEST_F(ControlTest, StopAll) {
  daemon_->answers("POST /v1/programs/stop",
                   R"([{"program":"a","result":"stopped","ok":true,"message":""},
                       {"program":"b","result":"not running","ok":false,"message":"x"}])");
  const Ran ran = ctl({"stop", "all"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(daemon_->requests().size(), 1U);
  EXPECT_EQ(ran.out, "a: stopped\nb: ERROR (not running)\n");
}

// In one request each: a daemon that dies between the stop and the start must know of both.
TEST_F(ControlTest, RestartIsOneWish) {
  daemon_->answers("POST /v1/programs/a/restart",
                   R"({"program":"a","result":"started","ok":true,"message":"","stopped":true})");
  daemon_->answers("POST /v1/programs/b/restart",
                   R"({"program":"b","result":"started","ok":true,"message":"","stopped":false})");
  const Ran ran = ctl({"restart", "a", "b"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "a: stopped\nb: ERROR (not running)\na: started\nb: started\n");
  EXPECT_EQ(daemon_->requests().size(), 3U);
}

TEST_F(ControlTest, ControlAsJson) {
  program("stop", "a", "stopped", true);
  EXPECT_EQ(ctl({"stop", "a", "--json"}).out,
            R"([{"program":"a","action":"stop","ok":true,"result":"stopped","message":""}])"
            "\n");
}

TEST_F(ControlTest, Pid) {
  EXPECT_EQ(ctl({"pid"}).out, "4711\n");
  EXPECT_EQ(ctl({"pid", "a"}).out, "11\n");
  EXPECT_EQ(ctl({"pid", "a"}).code, 0);
  EXPECT_EQ(ctl({"pid", "b"}).code, 7);
  EXPECT_EQ(ctl({"pid", "all"}).out, "11\n0\n");
  EXPECT_EQ(ctl({"pid", "nope"}).code, 1);
}

TEST_F(ControlTest, RereadAndUpdate) {
  daemon_->answers("POST /v1/reread",
                   R"({"available":["n"],"changed":["a"],"disappeared":["b"],"problems":[]})");
  daemon_->answers("POST /v1/reread",
                   R"({"available":[],"changed":[],"disappeared":[],"problems":[]})");
  daemon_->answers("POST /v1/reread", R"({"problems":["c.yaml:3:1: unknown key"]})");
  daemon_->answers("POST /v1/update",
                   R"({"stopped":["b"],"added":["n"],"removed":["b"],"updated":[],"problems":[]})");
  EXPECT_EQ(ctl({"reread"}).out, "n: available\na: changed\nb: disappeared\n");
  EXPECT_EQ(ctl({"reread"}).out, "No config updates to processes\n");
  const Ran broken = ctl({"reread"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_EQ(broken.err, "c.yaml:3:1: unknown key\n");
  EXPECT_EQ(ctl({"update"}).out, "b: stopped\nb: removed process group\nn: added process group\n");
}

TEST_F(ControlTest, ReloadVersion) {
  daemon_->answers("POST /v1/reload", R"({"result":"restarting"})");
  EXPECT_EQ(ctl({"reload"}).out, "Restarted trainwardd\n");
  EXPECT_EQ(ctl({"version"}).out, "0.1.0\n");
}

TEST_F(ControlTest, ShutDownIsSaidWhenTheDaemonIsGone) {
  daemon_->answers("POST /v1/shutdown", R"({"result":"shutting down","within_ms":60000})");
  daemon_->answers("GET /v1/version", R"({"pid":4711})");
  daemon_->answers("GET /v1/version", R"({"pid":4711})");
  daemon_->answers("GET /v1/version", R"({"pid":4712,"started_ms":2})");  // another one
  const Ran ran = ctl({"shutdown"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Shut down\n");
  EXPECT_EQ(daemon_->requests().size(), 5U);
}

TEST_F(ControlTest, ADaemonThatDoesNotEndIsSaidSo) {
  daemon_->answers("POST /v1/shutdown", R"({"result":"shutting down","within_ms":60})");
  const Ran ran = ctl({"shutdown"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("trainwardd (pid 4711) still runs after 60 ms: a is RUNNING"));
}

TEST_F(ControlTest, AnUpgradeIsDoneWhenAnotherDaemonAnswers) {
  daemon_->answers("POST /v1/upgrade", R"({"from":"1.0","to":"1.1","started_ms":5})");
  daemon_->answers("GET /v1/version", R"({"version":"1.1","started_ms":6})");
  EXPECT_EQ(ctl({"upgrade"}).out, "Upgraded trainwardd from 1.0 to 1.1\n");
}

TEST_F(ControlTest, TailAsksForTheLastBytes) {
  daemon_->answers("GET /v1/programs/a/log?stream=stderr&offset=-500&limit=500",
                   {200, "the end\n", "X-Log-Size: 900\r\nX-Log-Attempt: 3\r\n", false});
  EXPECT_EQ(ctl({"tail", "-500", "a", "stderr"}).out, "the end\n");
  const Ran as_json = ctl({"tail", "-500", "a", "stderr", "--json"});
  EXPECT_EQ(as_json.out,
            R"({"program":"a","stream":"stderr","attempt":3,"size":900,"text":"the end\n"})"
            "\n");
  const Ran unknown = ctl({"tail", "nope"});
  EXPECT_EQ(unknown.code, 1);
}

TEST_F(ControlTest, ATailMakesALogSafeForATerminalAndLeavesItToAPipe) {
  const std::string log = "\x1b[31mred\x1b[0m \x1b]0;pwned\a\u202Etxt\n10%\r20%\n\xff";
  daemon_->answers("GET /v1/programs/a/log?stream=stdout&offset=-1600&limit=1600",
                   {200, log, "X-Log-Size: 60\r\nX-Log-Attempt: 3\r\n", false});
  EXPECT_EQ(ctl({"tail", "a"}).out, log);
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err, false, 0, Time{now_ms, 0}};
  terminal.out_is_terminal = true;
  EXPECT_EQ(run({"tail", "a"}, folder_, terminal), 0) << err.str();
  EXPECT_EQ(out.str(), "red ?txt\n10%\n20%\n?");
}

TEST_F(ControlTest, FollowGoesOnWithTheNextAttempt) {
  const std::string log = "GET /v1/programs/a/log?stream=stdout";
  const auto piece = [](const char* bytes, int size, int attempt) {
    return FakeDaemon::Canned{200, bytes,
                              "X-Log-Size: " + std::to_string(size) +
                                  "\r\nX-Log-Attempt: " + std::to_string(attempt) + "\r\n",
                              false};
  };
  daemon_->answers(log + "&offset=-1600&limit=1600", piece("one ", 4, 1));
  daemon_->answers(log + "&offset=4&limit=1048576&attempt=1", piece("two ", 8, 1));
  daemon_->answers(log + "&offset=8&limit=1048576&attempt=1", piece("", 8, 1));
  daemon_->answers(log + "&offset=0&limit=1", piece("t", 6, 2));
  daemon_->answers(log + "&offset=0&limit=1048576&attempt=2", piece("three ", 6, 2));
  // The daemon's 404 for what comes next ends the loop.
  const Ran ran = ctl({"tail", "-f", "a"});
  EXPECT_EQ(ran.out, "one two three ");
  EXPECT_THAT(ran.err, HasSubstr("==> attempt 2 <=="));
  EXPECT_EQ(ran.code, 1);
}

TEST_F(ControlTest, EventsKeepTheNewest) {
  daemon_->answers(
      "GET /v1/events?after=-1",
      R"([{"at":"t1","kind":"k","text":"first"},{"at":"t2","kind":"k","text":"last"}])");
  EXPECT_EQ(ctl({"events", "-n", "1"}).out, "t2  trainwardd  k  last\n");
}

TEST_F(ControlTest, EventsAreFollowed) {
  daemon_->answers("GET /v1/events?after=-1",
                   R"([{"id":7,"at":"2025-11-20T21:40:20.123Z","kind":"k","text":"first"}])");
  daemon_->answers("GET /v1/events?after=7", "[]");
  daemon_->answers("GET /v1/events?after=7", R"([{"id":9,"at":"t","kind":"k","text":"next"}])");
  const Ran ran = ctl({"events", "-f"});  // until the fake daemon knows no more
  EXPECT_EQ(ran.out, "2025-11-20 22:40:20  trainwardd  k  first\nt  trainwardd  k  next\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ctl({"events", "-f", "--json", "--utc"}).out,
              HasSubstr("{\"id\":9,\"at\":\"t\",\"kind\":\"k\",\"text\":\"next\"}\n"));
}

TEST_F(ControlTest, HistoryKeepsTheNewest) {
  daemon_->answers("GET /v1/history",
                   R"([{"program":"a","attempt":1,"started_at":"2025-11-20T20:00:00.000Z"},
                       {"program":"a","attempt":2,"started_at":"2025-11-20T21:10:00.000Z"},
                       {"program":"b","attempt":1,"started_at":"2025-11-20T21:00:00.000Z"}])");
  const Ran ran = ctl({"history", "-n", "2", "--json"});
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("T20:00")));
  EXPECT_THAT(ran.out, HasSubstr("T21:10"));
  EXPECT_THAT(ran.out, HasSubstr("T21:00"));
  EXPECT_EQ(ctl({"history", "-n", "0"}).code, 2);
}

TEST_F(ControlTest, ProbeExitsWithTheHealth) {
  const auto report = [](const char* verdict) {
    return std::string(R"({"source":"described","boards":[{"serial":"01","type":"n300",)") +
           R"("bus_id":"0000:c1:00.0","verdict":")" + verdict +
           R"(","chips":[],"links":[],"evidence":[{"what":"link 8 is down","advice":"swap"}],)" +
           R"("simulate":{}}],"evidence":[]})";
  };
  daemon_->answers("POST /v1/probe", report("REMOTE_LOST"));
  daemon_->answers("POST /v1/probe", report("OK"));
  daemon_->answers("POST /v1/probe", R"({"boards":"many"})");
  const Ran bad = ctl({"probe"});
  EXPECT_EQ(bad.code, 2) << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("link 8 is down"));
  EXPECT_EQ(ctl({"probe", "--json"}).code, 0);
  EXPECT_EQ(ctl({"probe"}).code, 3);
}

const char* const two_chips =
    R"({"source":"sysfs","boards":[{"serial":"01","type":"n300","bus_id":"0000:c1:00.0",)"
    R"("verdict":"OK","chips":[{"id":"L","verdict":"OK","confidence":"full","temperature_c":57,)"
    R"("evidence":[]},{"id":"R","verdict":"OK","confidence":"full","temperature_c":38,)"
    R"("evidence":[]}],"links":[{"from":"L:8","to":"R:0","up":true,"retrains":0}],)"
    R"("evidence":[],"simulate":{}}],"evidence":[]})";

TEST_F(ControlTest, ProbeDrawsTheBoards) {
  daemon_->answers("POST /v1/probe", two_chips);
  daemon_->answers("POST /v1/probe?deep=1", two_chips);
  const Ran ran = ctl({"probe"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("| L  OK  57°C | 8 --------- 0 | R  OK  38°C |"));
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(ctl({"probe", "--deep"}).out, ran.out);
}

// Two reports, and the daemon busy between them.
void watchable(FakeDaemon& daemon) {
  const std::string later = "POST /v1/probe?record=0";
  daemon.answers("POST /v1/probe", two_chips);
  daemon.answers(later, {503, R"({"error":{"kind":"transient","what":"busy"}})", "", false});
  daemon.answers(later, two_chips);
  daemon.answers(later, {404, R"({"error":{"kind":"usage","what":"over"}})", "", false});
}

TEST_F(ControlTest, ProbeWatchesUntilTheDaemonIsGone) {
  watchable(*daemon_);
  const Ran ran = ctl({"probe", "--watch", "--every", "0.1"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("over"));
  const std::string head = "1 board seen through sysfs, 2";
  EXPECT_EQ(ran.out.find(head), 0U);
  EXPECT_NE(ran.out.find("\n\n" + head), std::string::npos);
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(daemon_->requests().size(), 4U);
}

TEST_F(ControlTest, ProbeWatchesAsJsonLines) {
  watchable(*daemon_);
  const Ran ran = ctl({"probe", "--json", "--watch", "--every", "0.1"});
  const std::string line = json::serialize(*parse_json(two_chips, "")) + "\n";
  EXPECT_EQ(ran.out, line + line);
  EXPECT_EQ(ctl({"probe", "--watch", "--deep"}).code, 2);
  EXPECT_EQ(ctl({"probe", "--every", "1"}).code, 2);
}

TEST_F(ControlTest, ProbeDrawsOverATerminal) {
  watchable(*daemon_);
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err, true, 80, Time{now_ms, 0}, {}, true};
  run({"probe", "--watch", "--every", "0.1"}, folder_, terminal);
  const std::string text = out.str();
  EXPECT_EQ(text.find("\x1b[H1 board seen"), 0U);
  EXPECT_THAT(text, testing::EndsWith("\x1b[J"));
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    EXPECT_EQ(text.substr(at - 3, 3), "\x1b[K");
  }
}

TEST_F(ControlTest, ADeepProbeNeedsTheDaemon) {
  daemon_.reset();  // its socket stays
  const Ran ran = ctl({"probe", "--deep"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_EQ(ctl({"probe", "--watch"}).code, 3);
}

TEST_F(ControlTest, AnAnswerOfTheWrongShapeIsAnotherVersion) {
  daemon_->answers("GET /v1/history", R"({"rows":[]})");
  const Ran ran = ctl({"history"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_THAT(ran.err, HasSubstr("different versions"));
}

}  // namespace
}  // namespace trainward::ctl
