// What runs supervisorctl elsewhere, with its exact command lines and the words it looks for.
#include <fstream>

#include "fake_daemon.hpp"
#include "fixture.hpp"
#include "supervisor/ctl/client/program_names.hpp"

namespace trainward::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Supervisorctl : public CtlTest {
 protected:
  Supervisorctl() {
    daemon_.answers("GET /v1/version", R"({"version":"0.1.0","api":1,"pid":4711})");
    daemon_.answers("GET /v1/programs", R"j([
        {"name":"gpu-1","state":"RUNNING","pid":11,"uptime_ms":47000000,"attempts":1},
        {"name":"gpu-2","state":"BACKOFF","reason":"next attempt in 4 s","attempts":2},
        {"name":"idle","state":"STOPPED","reason":"Not started","attempts":0}])j");
  }
  void program(const std::string& verb, const std::string& name, const std::string& result, bool ok,
               const std::string& message = "") {
    daemon_.answers("POST /v1/programs/" + name + "/" + verb,
                    R"({"program":")" + name + R"(","result":")" + result + R"(","ok":)" +
                        (ok ? "true" : "false") + R"(,"message":")" + message + R"("})");
  }
  FakeDaemon daemon_{socket()};
};

// Fields of a line of `status`, as these clients part it: at blanks, the third is the rest.
std::vector<Names> fields(const std::string& status) {
  std::vector<Names> lines;
  std::istringstream text(status);
  for (std::string line; std::getline(text, line);) {
    std::istringstream in(line);
    Names words(3);
    in >> words[0] >> words[1] >> std::ws;
    std::getline(in, words[2]);
    lines.push_back(words);
  }
  return lines;
}

// ---- Ansible: community.general.supervisorctl ----
// [supervisorctl_path] [-c config] [-s server_url] [-u username] [-p password] CMD [NAME]

TEST_F(Supervisorctl, AnsibleReadsNameAndStateOfEachLine) {
  const auto lines = fields(ctl({"status"}).out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], ElementsAre("gpu-1", "RUNNING", "pid 11, uptime 13:03:20"));
  EXPECT_THAT(lines[1], ElementsAre("gpu-2", "BACKOFF", "next attempt in 4 s"));
  EXPECT_THAT(lines[2], ElementsAre("idle", "STOPPED", "Not started"));
}

TEST_F(Supervisorctl, AnsibleStartedStoppedRestarted) {
  program("start", "idle", "started", true, "probing");
  program("stop", "gpu-1", "stopped", true);
  daemon_.answers("POST /v1/update",
                  R"({"stopped":[],"added":[],"removed":[],"updated":[],"problems":[]})");
  daemon_.answers(
      "POST /v1/programs/gpu-1/restart",
      R"({"program":"gpu-1","result":"started","ok":true,"message":"","stopped":true})");
  const Ran started = ctl({"start", "idle"});
  EXPECT_EQ(started.code, 0);
  EXPECT_EQ(started.out, "idle: started\n");
  EXPECT_EQ(started.err, "");
  const Ran stopped = ctl({"stop", "gpu-1"});
  EXPECT_EQ(stopped.code, 0);
  EXPECT_EQ(stopped.out, "gpu-1: stopped\n");
  EXPECT_EQ(ctl({"update"}).code, 0);
  const Ran restarted = ctl({"restart", "gpu-1"});
  EXPECT_EQ(restarted.code, 0);
  EXPECT_THAT(restarted.out, HasSubstr("gpu-1: started"));
}

TEST_F(Supervisorctl, AnsiblePresentAndAbsent) {
  daemon_.answers("POST /v1/reread",
                  R"({"available":["new"],"changed":[],"disappeared":[],"problems":[]})");
  program("add", "new", "added", true);
  program("add", "gpu-1", "already active", false);
  program("remove", "idle", "removed", true);
  program("remove", "gpu-1", "still running", false, "stop it first: trainwardctl stop gpu-1");
  EXPECT_EQ(ctl({"reread"}).code, 0);
  EXPECT_EQ(ctl({"add", "new"}).out, "new: added process group\n");
  EXPECT_EQ(ctl({"remove", "idle"}).out, "idle: removed process group\n");
  const Ran running = ctl({"remove", "gpu-1"});
  EXPECT_EQ(running.code, 1);
  EXPECT_EQ(running.out, "ERROR: process/group still running: gpu-1\n");
  EXPECT_THAT(running.err, HasSubstr("stop it first"));
  EXPECT_EQ(ctl({"add", "gpu-1"}).out, "ERROR: process group already active\n");
  EXPECT_EQ(ctl({"add", "gpu-1"}).code, 0);
  const Ran unknown = ctl({"add", "nope"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.out, "ERROR: no such process/group: nope\n");
}

TEST_F(Supervisorctl, AnsibleSignalsInOneWord) {
  program("signal?number=10", "gpu-1", "signalled", true);
  program("signal?number=10", "idle", "not running", false);
  const Ran signalled = ctl({"signal USR1", "gpu-1"});
  EXPECT_EQ(signalled.code, 0) << signalled.err;
  EXPECT_EQ(signalled.out, "gpu-1: signalled\n");
  EXPECT_EQ(ctl({"signal", "SIGUSR1", "gpu-1:*"}).out, "gpu-1: signalled\n");
  const Ran stopped = ctl({"signal", "10", "idle"});
  EXPECT_EQ(stopped.code, 7);
  EXPECT_EQ(stopped.out, "idle: ERROR (not running)\n");
  const Ran bad = ctl({"signal", "USR9", "gpu-1", "idle"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("gpu-1: ERROR (bad signal name)\nidle: ERROR (bad"));
  EXPECT_EQ(ctl({"signal", "USR1", "nope"}).out, "nope: ERROR (no such process)\n");
}

TEST_F(Supervisorctl, AnsibleNamesServerUserAndPassword) {
  const std::string url = "unix://" + socket().string();
  const Ran ran = ctl({"-s", url, "-u", "admin", "-p", "secret", "status", "gpu-1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out.find("secret"), std::string::npos);
  EXPECT_EQ(ctl({"-p", "stop", "version"}).out, "0.1.0\n") << "a password is no command";
}

TEST_F(Supervisorctl, ANetworkAddressIsRefusedWithTheReason) {
  const Ran ran = ctl({"-s", "http://localhost:9001", "-u", "a", "-p", "secret", "status"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("http://localhost:9001: trainwardctl talks to a Unix socket"));
  EXPECT_THAT(ran.err, HasSubstr("-s unix:///PATH"));
  EXPECT_THAT(ran.err, Not(HasSubstr("secret")));
}

// ---- Salt: supervisord ----
// [supervisorctl] [-c conf_file] CMD [NAME]; "GROUP:*" becomes "GROUP:". Output without "ERROR" is
// success.

TEST_F(Supervisorctl, SaltNamesAGroupWithAColon) {
  program("start", "idle", "started", true);
  EXPECT_EQ(ctl({"start", "idle:"}).out, "idle: started\n");
  daemon_.answers("POST /v1/programs/idle/update",
                  R"({"stopped":[],"added":["idle"],"removed":[],"updated":[],"problems":[]})");
  EXPECT_EQ(ctl({"update", "idle"}).out, "idle: added process group\n");
  const Ran unknown = ctl({"update", "nope"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.out, "ERROR: no such group: nope\n");
}

TEST_F(Supervisorctl, SaltAsksForTheStatusOfOneInOneWord) {
  EXPECT_THAT(fields(ctl({"status gpu-1"}).out)[0], ElementsAre("gpu-1", "RUNNING", testing::_));
  EXPECT_THAT(fields(ctl({"status", "nope"}).out)[0],
              ElementsAre("nope:", "ERROR", "(no such process)"));
}

TEST_F(Supervisorctl, SaltNamesAConfigurationFile) {
  const std::string own = (folder_ / "trainward.yaml").string();
  std::ofstream(own) << "state_dir: " << folder_.string()
                     << "\nprograms:\n  a: {command: [/bin/true]}\n";
  EXPECT_EQ(ctl({"-c", own, "--state-dir", "/none", "version"}).code, 7) << "what is named last";
  EXPECT_EQ(ctl({"-c", own, "version"}).out, "0.1.0\n");
  const std::string theirs = (folder_ / "supervisord.conf").string();
  std::ofstream(theirs) << "; a comment\n\n[supervisord]\nlogfile=/tmp/x\n";
  const Ran ran = ctl({"-c", theirs, "version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "0.1.0\n");
  EXPECT_THAT(ran.err, HasSubstr("is a configuration of supervisord"));
  EXPECT_EQ(ctl({"-c", (folder_ / "none.yaml").string(), "version"}).code, 2);
}

// ---- Nagios: `supervisorctl status [NAME]`, the second field of each line ----

TEST_F(Supervisorctl, NagiosReadsTheSecondField) {
  const Ran one = ctl({"status", "gpu-1"});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(fields(one.out)[0][1], "RUNNING");
  const Ran down = ctl({"status", "idle"});
  EXPECT_EQ(down.code, 3);
  EXPECT_EQ(fields(down.out)[0][1], "STOPPED");
}

// ---- people's fingers ----

TEST_F(Supervisorctl, NamesGlobsAndGroups) {
  const Names known{"gpu-1", "gpu-2", "idle"};
  EXPECT_THAT(meant_by({"gpu-*", "gpu-1"}, known), ElementsAre("gpu-1", "gpu-2"));
  EXPECT_THAT(meant_by({"idle:*", "gpu-2:", "gpu-1:gpu-1"}, known),
              ElementsAre("idle", "gpu-2", "gpu-1"));
  EXPECT_THAT(meant_by({"gpu-[12]", "i?le"}, known), ElementsAre("gpu-1", "gpu-2", "idle"));
  EXPECT_THAT(meant_by({"all"}, known), ElementsAre("gpu-1", "gpu-2", "idle"));
  EXPECT_THAT(meant_by({"x*", "a:b"}, known), ElementsAre("x*", "a:b"));
  program("stop", "gpu-1", "stopped", true);
  program("stop", "gpu-2", "stopped", true);
  EXPECT_EQ(ctl({"stop", "gpu-*"}).out, "gpu-1: stopped\ngpu-2: stopped\n");
  EXPECT_EQ(ctl({"stop", "x*"}).out, "x*: ERROR (no such process)\n");
  EXPECT_EQ(fields(ctl({"status", "gpu-*"}).out).size(), 2U);
}

TEST_F(Supervisorctl, AvailHasTheProgramsOfTheFile) {
  daemon_.answers("GET /v1/available", R"([{"name":"gpu-1","in_use":true,"autostart":true},
                                           {"name":"new","in_use":false,"autostart":false}])");
  EXPECT_EQ(ctl({"avail"}).out,
            "gpu-1                            in use    auto\n"
            "new                              avail     manual\n");
}

TEST_F(Supervisorctl, ClearSaysWhichLogsStay) {
  program("clear", "gpu-1", "cleared", true, "the logs of attempt 4, which runs, stay");
  program("clear", "idle", "cleared", true);
  const Ran ran = ctl({"clear", "gpu-1", "idle"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "gpu-1: cleared\nidle: cleared\n");
  EXPECT_EQ(ran.err, "gpu-1: the logs of attempt 4, which runs, stay\n");
  EXPECT_EQ(ctl({"clear", "nope"}).out, "nope: ERROR (no such process)\n");
}

TEST_F(Supervisorctl, MaintailIsTheDaemonsOwnLog) {
  daemon_.answers("GET /v1/log?offset=-1600&limit=1600",
                  {200, "one\n", "X-Log-Offset: 0\r\nX-Log-Size: 4\r\n", false});
  daemon_.answers("GET /v1/log?offset=4&limit=1048576",
                  {200, "two\n", "X-Log-Offset: 4\r\nX-Log-Size: 8\r\n", false});
  EXPECT_EQ(ctl({"maintail"}).out, "one\n");
  const Ran followed = ctl({"maintail", "-f"});  // until the fake daemon knows no more
  EXPECT_EQ(followed.out, "one\ntwo\n");
  EXPECT_EQ(ctl({"maintail", "-10"}).code, 1) << "asked for by number of bytes";
}

TEST_F(Supervisorctl, UnknownVerbsAreAnsweredWithOurs) {
  EXPECT_THAT(ctl({"fg", "gpu-1"}).err, HasSubstr("'tail -f NAME' shows what it prints"));
  EXPECT_THAT(ctl({"kill", "gpu-1"}).err, HasSubstr("'signal KILL NAME'"));
  EXPECT_THAT(ctl({"logs"}).err, HasSubstr("'tail NAME'"));
  EXPECT_THAT(ctl({"relod"}).err, HasSubstr("did you mean 'reload'?"));
  EXPECT_EQ(ctl({"fg", "gpu-1"}).code, 2);
}

}  // namespace
}  // namespace trainward::ctl
