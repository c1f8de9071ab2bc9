// The port of the page: taken by somebody else, kept through reloads, given to nobody, changed.
#include "window_port.hpp"

#include <gmock/gmock.h>

namespace trainward::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

int times_in(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

using WindowPort = PortWorld;

TEST_F(WindowPort, ThatIsTakenIsToldAndHadWhenItIsFree) {
  Fd other = take_port(0);
  const int port = port_of(other);
  write("run.yaml", page_on(port));
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_for_worker();
  EXPECT_EQ(state(), "RUNNING");
  const std::string address = fmt::format("127.0.0.1:{}", port);
  EXPECT_THAT(trouble(), AllOf(HasSubstr("no page at http://" + address), HasSubstr("in use"),
                               HasSubstr("ss -ltnp"), HasSubstr("training goes on")));
  EXPECT_THAT(ctl({"version", "--json"}).out,
              AllOf(HasSubstr("no page at"), Not(HasSubstr("\"http://" + address))));
  const Output link = ctl({"open"});
  EXPECT_EQ(link.code, 1);
  EXPECT_THAT(link.err, AllOf(HasSubstr(address), HasSubstr("in use")));
  EXPECT_EQ(ctl({"reload"}).code, 0) << "whoever has the port keeps nobody from it";
  EXPECT_THAT(trouble(), HasSubstr(address));

  const auto said_before = times_in(daemon_log(), "no page at");
  EXPECT_EQ(said_before, 2) << "once by each daemon\n" << daemon_log();
  other.reset();
  wait_until([&] { return health(port) == 200; });
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(ctl({"open"}).code, 0);
  EXPECT_EQ(times_in(daemon_log(), "no page at"), said_before);
  EXPECT_EQ(attempts().size(), 1U);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(WindowPort, IsChangedByAReloadAndClosedWhereItIsNamedNoMore) {
  const int first = port_of(take_port(0));
  write("run.yaml", page_on(first));
  start_daemon({"run.yaml"});
  wait_for_worker();
  ASSERT_EQ(health(first), 200);
  const int second = port_of(take_port(0));
  write("run.yaml", page_on(second));
  ASSERT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_EQ(health(second), 200);
  EXPECT_TRUE(take_port(first)) << "it is not held any more";
  // Another address of the same port: the one must be closed before the other is opened.
  write("run.yaml", fmt::format("listen: 127.0.0.2:{}\n", second) +
                        "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null]}\n");
  ASSERT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_THAT(ctl({"version", "--json"}).out, HasSubstr(fmt::format("127.0.0.2:{}", second)));
  EXPECT_TRUE(take_port(second));
}

TEST_F(WindowPort, ThatTheKernelChoseStaysTheSame) {
  write("run.yaml", page_on(0));
  start_daemon({"run.yaml"});
  wait_for_worker();
  const std::string before = ctl({"version", "--json"}).out;
  const auto listeners = [](const std::string& version) {
    const auto at = version.find("\"listeners\"");
    return version.substr(at, version.find(']', at) - at);
  };
  ASSERT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_EQ(listeners(ctl({"version", "--json"}).out), listeners(before));
}

TEST_F(WindowPort, IsNobodyElses) {
  write("run.yaml", page_on(port_of(take_port(0))));
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_for_worker();
  ASSERT_EQ(ctl({"reload"}).code, 0);
  ASSERT_EQ(ctl({"restart", "run"}).code, 0);  // by the daemon that was handed the sockets
  const auto sockets = listening(daemon);
  ASSERT_EQ(sockets.size(), 2U);
  EXPECT_THAT(read_file(fmt::format("/proc/{}/environ", daemon), 1 << 20).value(),
              HasSubstr("TRAINWARD_SOCKETS="))
      << "as it was executed";
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (pid == std::to_string(daemon)) continue;
    const auto environment = read_file(entry.path() / "environ", 1 << 20).value_or("");
    EXPECT_THAT(environment, Not(HasSubstr(fmt::format("\"pid\":{}", daemon)))) << pid;
    for (const std::string& socket : sockets_of(pid)) {
      EXPECT_FALSE(sockets.contains(socket)) << pid;
      ++others;
    }
  }
  EXPECT_GT(others, 0) << "sockets of other processes were looked at";
}

TEST_F(PortThroughReloads, StaysOurs) { reload(20); }

}  // namespace
}  // namespace trainward::e2e
