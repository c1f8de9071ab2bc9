// The courier beside the real daemon: whatever becomes of it, training goes on.
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/json.hpp"
#include "common/os/fd.hpp"
#include "http_script.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

class Messenger : public World {
 protected:
  // A channel to a server of the test's own, and a program that goes on until it is stopped.
  void configure(const std::string& address) {
    write("hook.url", address);
    ASSERT_EQ(::chmod(path("hook.url").c_str(), 0600), 0);
    write("run.yaml",
          "notify: {channels: {night: {webhook: {url_file: hook.url}}}}\n"
          "programs:\n  run: {command: [/bin/sh, -c, 'echo > up; tail -f /dev/null'], "
          "backoff: {first: 20ms}}\n");
  }
  json::object deliveries() {
    const Output asked = run("/usr/bin/curl", {"-s", "--unix-socket", ".trainward/trainward.sock",
                                               "http://localhost/v1/deliveries"});
    const auto answer = parse_json(asked.out, "answer");
    return answer && answer->is_object() ? answer->as_object() : json::object();
  }
  // Whether a courier works in the state folder.
  bool works() {
    const auto lease = open_regular(path(".trainward/courier.lock"), O_RDWR | O_CLOEXEC);
    return lease && ::flock(lease->get(), LOCK_EX | LOCK_NB) != 0;
  }
  // The daemon's child of that name; nothing: none.
  static std::optional<pid_t> courier_of(pid_t daemon) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto stat = read_file(entry.path() / "stat", 4096);
      if (!stat) continue;
      const auto end = stat->rfind(')');
      if (end == std::string::npos || !is_courier(*stat)) continue;
      int parent = 0;
      if (std::sscanf(stat->c_str() + end + 1, " %*c %d", &parent) == 1 && parent == daemon) {
        return static_cast<pid_t>(std::stoi(entry.path().filename()));
      }
    }
    return std::nullopt;
  }
  static bool is_courier(const std::string& stat) {
    return stat.find("(trainward-couri)") != std::string::npos;
  }
};

TEST_F(Messenger, WithoutAnybodyToTellThereIsNoCourier) {
  write("run.yaml", "programs:\n  run: {command: [/bin/true]}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(path(".trainward/courier.lock")));
}

TEST_F(Messenger, OneThatIsKilledIsStartedAgainAndTheProgramDoesNotNotice) {
  const test::HttpScript server;
  configure(server.url("/T0pSecr3t"));
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return std::filesystem::exists(path("up")) && works(); });
  const auto first = courier_of(daemon);
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(::kill(*first, SIGKILL), 0);
  std::optional<pid_t> second;
  wait_until([&] { return (second = courier_of(daemon)) && second != first && works(); });
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_EQ(state(), "RUNNING");
  EXPECT_TRUE(deliveries().at("courier").at("needed").as_bool());

  // With the daemon it goes as well, and the next one takes its place.
  ASSERT_EQ(::kill(daemon, SIGKILL), 0);
  EXPECT_EQ(end_of(daemon), -SIGKILL);
  wait_until([&] { return !works(); });
  const pid_t next = start_daemon({"run.yaml"});
  wait_until([&] { return courier_of(next) && works(); });
  ASSERT_EQ(::kill(next, SIGTERM), 0);
  EXPECT_EQ(end_of(next), 0);
  wait_until([&] { return !works(); });
  EXPECT_THAT(daemon_log(), Not(HasSubstr("T0pSecr3t")));
}

// Stopped by a signal it is as silent as one that hangs: nobody waits for it, and the daemon ends
// it.
TEST_F(Messenger, NobodyWaitsForOneThatHangs) {
  const test::HttpScript server;
  configure(server.url("/"));
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return std::filesystem::exists(path("up")) && works(); });
  const auto courier = courier_of(daemon);
  ASSERT_TRUE(courier.has_value());
  ASSERT_EQ(::kill(*courier, SIGSTOP), 0);
  EXPECT_EQ(ctl({"restart", "run"}).out, "run: stopped\nrun: started\n");
  EXPECT_EQ(ctl({"status"}).code, 0);
  ASSERT_EQ(::kill(daemon, SIGTERM), 0);
  EXPECT_EQ(end_of(daemon), 0);
  wait_until([&] { return !works(); });
}

TEST_F(Messenger, WithoutItsProgramTrainingGoesOnAndStatusSaysSo) {
  configure("http://127.0.0.1:9/");
  std::filesystem::create_directories(path("bin"));
  for (const char* name : {"trainwardd", "trainward-shim", "trainward-probe"}) {
    std::filesystem::copy_file(program(name), path("bin") / name);
  }
  const pid_t daemon = start({(path("bin") / "trainwardd").string(), "run.yaml"});
  wait_until([&] { return std::filesystem::exists(path("up")) && state() == "RUNNING"; });
  wait_until([&] { return ctl({"status"}).out.find("!! ") != std::string::npos; });
  const Output status = ctl({"status"});
  EXPECT_EQ(status.code, 0) << "the program is well";
  EXPECT_THAT(status.out, HasSubstr("!! nothing is delivered: "));
  EXPECT_THAT(status.out, HasSubstr("trainward-courier"));
  ASSERT_EQ(::kill(daemon, SIGTERM), 0);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
