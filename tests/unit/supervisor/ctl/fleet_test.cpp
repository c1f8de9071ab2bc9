// status --hosts: the file, machines asked side by side, one table. Machines behind ssh are tried
// with the real programs in tests/e2e/other_host_test.cpp; here ssh is a script that never gets
// there.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "common/os/processes/process_id.hpp"
#include "fake_daemon.hpp"
#include "fixture.hpp"
#include "supervisor/ctl/fleet/ask.hpp"
#include "supervisor/ctl/fleet/hosts.hpp"

namespace trainward::ctl::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(HostsFile, AddressesAndComments) {
  const auto hosts = read_hosts(
      "# the lab\nbox1\n\n  ssh://anna@box2:2222/srv/run   # the big one\nunix:///run/a#b.sock\r\n",
      "hosts");
  ASSERT_TRUE(hosts.has_value()) << hosts.error().message();
  ASSERT_EQ(hosts->size(), 3U);
  EXPECT_EQ((*hosts)[0].name, "box1");
  EXPECT_EQ((*hosts)[1].name, "anna@box2:2222/srv/run");
  EXPECT_EQ((*hosts)[1].address->port, 2222);
  EXPECT_FALSE((*hosts)[2].address.has_value());
  EXPECT_EQ((*hosts)[2].socket, "/run/a#b.sock");
}

TEST(HostsFile, AWrongLineIsNamed) {
  const auto hosts = read_hosts("box1\n\nssh://-oProxyCommand=id\n", "lab/hosts");
  ASSERT_FALSE(hosts.has_value());
  EXPECT_EQ(hosts.error().where, "lab/hosts:3");
  EXPECT_THAT(hosts.error().what, HasSubstr("-oProxyCommand=id is no name of a host"));
  EXPECT_THAT(read_hosts("# nobody\n", "hosts").error().what, HasSubstr("names no machine"));
  for (const char* line : {"unix://", "unix://run/trainward.sock"}) {
    const auto relative = read_hosts(line, "hosts");
    ASSERT_FALSE(relative.has_value()) << line;
    EXPECT_THAT(relative.error().what, HasSubstr("absolute path"));
  }
}

class Fleet : public CtlTest {
 protected:
  Fleet() {
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", (folder_.string() + "/bin:" + path_before_).c_str(), 1);
  }
  ~Fleet() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void ssh_is(const std::string& script) const {
    const auto file = temporary_.write("bin/ssh", "#!/bin/sh\n" + script + "\n");
    ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  }
  FakeDaemon& daemon(const std::string& name, const std::string& programs) {
    daemons_.push_back(std::make_unique<FakeDaemon>(folder_ / name));
    daemons_.back()->answers("GET /v1/programs", programs);
    return *daemons_.back();
  }
  [[nodiscard]] std::string line(const std::string& name) const {
    return "unix://" + (folder_ / name).string() + "\n";
  }
  [[nodiscard]] std::string hosts(const std::string& text) const {
    return temporary_.write("hosts", text).string();
  }

  std::string path_before_;
  std::vector<std::unique_ptr<FakeDaemon>> daemons_;
};

constexpr const char* running =
    R"([{"name":"gpu-1","state":"RUNNING","pid":11,"uptime_ms":47000000,"attempts":1}])";
constexpr const char* given_up =
    R"([{"name":"gpu-2","state":"FATAL","reason":"the disk is full","attempts":2}])";

TEST_F(Fleet, OneTableUnderOneHeadline) {
  ssh_is("echo 'ssh: Could not resolve hostname box3: Name or service not known' >&2; exit 255");
  daemon("a", running);
  daemon("b", given_up)
      .answers("GET /v1/version", R"({"trouble":["the database's disk is full"]})");
  const Ran ran = ctl({"status", "--hosts", hosts(line("a") + line("b") + "box3\n")});
  EXPECT_EQ(ran.code, 4) << ran.err;
  std::istringstream lines(ran.out);
  std::string text;
  std::getline(lines, text);
  EXPECT_EQ(text, "3 hosts: 2 programs; 1 needs attention. 1 host does not answer.");
  std::getline(lines, text);
  EXPECT_THAT(text, HasSubstr("/a  gpu-1"));
  EXPECT_THAT(text, HasSubstr("RUNNING      pid 11, uptime 13:03:20"));
  std::getline(lines, text);
  EXPECT_THAT(text, HasSubstr("/b  gpu-2"));
  EXPECT_THAT(text, HasSubstr("the disk is full"));
  std::getline(lines, text);
  EXPECT_THAT(text, HasSubstr("box3"));
  EXPECT_THAT(text, HasSubstr("UNREACHABLE"));
  EXPECT_THAT(text, HasSubstr("no machine of this name"));
  EXPECT_FALSE(std::getline(lines, text)) << text;
  EXPECT_THAT(ran.err, HasSubstr("/b: trainwardd: the database's disk is full"));
}

TEST_F(Fleet, TheExitStatusIsTheWorst) {
  daemon("a", running);
  daemon("b", given_up);
  EXPECT_EQ(ctl({"status", "--hosts", hosts(line("a"))}).code, 0);
  EXPECT_EQ(ctl({"status", "--hosts", hosts(line("a") + line("b"))}).code, 3);
  EXPECT_EQ(ctl({"status", "--hosts", hosts(line("b") + line("c"))}).code, 4);
  EXPECT_EQ(ctl({"status", "--hosts", hosts(line("a") + line("b")), "gpu-1"}).code, 0);
  const Ran unknown = ctl({"status", "--hosts", hosts(line("a")), "nobody"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_THAT(unknown.out, HasSubstr("nobody: ERROR (no such process)"));
}

TEST_F(Fleet, AsADocument) {
  daemon("a", running);
  const Ran ran = ctl({"status", "--json", "--hosts", hosts(line("a") + line("none"))});
  EXPECT_EQ(ran.code, 4);
  const auto document = parse_json(ran.out, "output");
  ASSERT_TRUE(document.has_value()) << ran.out;
  const json::array& rows = document->at("hosts").as_array();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].at("answered").as_bool());
  EXPECT_EQ(rows[0].at("programs").at(0).at("name").as_string(), "gpu-1");
  EXPECT_FALSE(rows[1].at("answered").as_bool());
  EXPECT_EQ(rows[1].at("error").at("what").as_string(), "trainwardd is not running");
}

TEST_F(Fleet, AMachineOfAnotherVersionIsARow) {
  daemon("a", R"({"not":"a list"})");
  daemon("b", R"([1, 2])");
  daemon("c", running);
  const Ran ran = ctl({"status", "--hosts", hosts(line("a") + line("b") + line("c"))});
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.out, HasSubstr("3 hosts: 1 program; nothing to do. 2 hosts do not answer."));
}

// More of them than are asked at once, in a file that has the one that answers last.
TEST_F(Fleet, MachinesThatHangHoldNobodyUpAndLeaveNoProcess) {
  ssh_is("echo $$ >> " + (folder_ / "pids").string() + "; exec tail -f /dev/null");
  daemon("a", running);
  std::string text;
  for (int i = 0; i < 20; ++i) text += "box" + std::to_string(i) + "\n";
  const auto named = read_hosts(text + line("a"), "hosts");
  ASSERT_TRUE(named.has_value());
  const auto answers = ask_all(*named, 2s);
  ASSERT_EQ(answers.size(), 21U);
  for (std::size_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(answers[i].failure.has_value());
    EXPECT_EQ(answers[i].failure->trouble, Trouble::silent);
    EXPECT_THAT(answers[i].failure->error.hint, HasSubstr("ssh box" + std::to_string(i) + " true"));
  }
  EXPECT_FALSE(answers[20].failure.has_value());
  EXPECT_EQ(answers[20].programs.size(), 1U);
  std::ifstream pids(folder_ / "pids");
  int counted = 0;
  for (pid_t pid = 0; pids >> pid; ++counted) {
    const auto process = identify(pid);
    EXPECT_FALSE(process.has_value()) << pid << " still runs";
  }
  EXPECT_EQ(counted, 20);
}

TEST_F(Fleet, WhatDoesNotGo) {
  const std::string file = hosts("box\n");
  EXPECT_EQ(ctl({"--host", "ssh://box", "status", "--hosts", file}).code, 2);
  EXPECT_EQ(ctl({"status", "--hosts", (folder_ / "none").string()}).code, 2);
  const Ran top = ctl({"top", "--hosts", file});
  EXPECT_EQ(top.code, 2);
  EXPECT_THAT(top.err, HasSubstr("top shows one machine"));
  const Ran both = ctl({"--host", "ssh://box", "--state-dir", "/srv", "status"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("ssh://HOST/path/to/state/folder"));
  for (const char* verb : {"ckpt list", "cache list", "init", "connect", "open"}) {
    const Ran ran = ctl({"--host", "ssh://anna@box", verb});
    EXPECT_EQ(ran.code, 2) << verb;
    EXPECT_THAT(ran.err, HasSubstr("type it there: ssh anna@box trainwardctl")) << verb;
  }
  EXPECT_THAT(ctl({"--host", "ssh://-v", "status"}).err, HasSubstr("is no name of a host"));
  EXPECT_EQ(ctl({"-s", "ssh://-v", "status"}).code, 2);
}

}  // namespace
}  // namespace trainward::ctl::fleet
