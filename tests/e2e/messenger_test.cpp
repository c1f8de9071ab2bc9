// The courier beside the real daemon: whatever becomes of it, training goes on.
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "common/base/json/json.hpp"
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
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
  wait_until([&] { return !works(); });
}

// What reaches nobody is seen where people look.
TEST_F(Messenger, AChannelThatFailsIsSeenInStatusUntilItWorks) {
  std::atomic<int> answer = 503;
  const test::HttpScript server(
      [&](const test::HttpRequest&) { return test::HttpStep{.status = answer}; });
  configure(server.url("/T0pSecr3t"));
  write("run.yaml",
        "notify: {hold: 0s, channels: {night: {webhook: {url_file: hook.url}}}}\n"
        "programs:\n  run: {command: [/bin/sh, -c, 'exit 3'], "
        "budgets: {attempts_without_progress: 2}, backoff: {first: 20ms}}\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"status"}).out.find("!! channel night") != std::string::npos; });
  const Output failing = ctl({"status"});
  EXPECT_THAT(failing.out, HasSubstr("HTTP 503"));
  EXPECT_THAT(failing.out, Not(HasSubstr("T0pSecr3t")));
  EXPECT_THAT(daemon_log(), HasSubstr("courier: channel night: "));
  answer = 200;
  wait_until([&] { return state() == "FATAL"; });
  ASSERT_EQ(ctl({"start", "run"}).code, 0);  // and fails again
  wait_until([&] { return ctl({"status"}).out.find("!! channel") == std::string::npos; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// Every kind of channel, at servers that say back all that they were sent.
TEST_F(Messenger, NoSecretIsAnywhere) {
  const std::string secret = "S3cr3tT0k3nThatNobodyMaySee";
  const std::string key = "c2VjcmV0IGJ5dGVzIG9mIGEgc2lnbmluZyBrZXkgISE=";
  std::atomic<int> count = 0;
  const test::HttpScript server([&](const test::HttpRequest& request) {
    std::string said = request.target + "\n" + request.body;
    for (const auto& [name, value] : request.headers) said += "\n" + name + ": " + value;
    const int which = count++ % 4;
    if (which == 0) return test::HttpStep{.status = 503, .body = said};
    if (which == 1) return test::HttpStep{.status = 403, .body = said};
    if (which == 2) return test::redirect_to(request.target + "/again");
    return test::HttpStep{.body = said};
  });
  const auto keep = [&](const std::string& name, const std::string& text) {
    write(name, text + "\n");
    ASSERT_EQ(::chmod(path(name).c_str(), 0600), 0);
  };
  keep("hook.url", server.url("/" + secret));
  keep("hook.key", "whsec_" + key);
  keep("token", secret);
  const std::string at = "server: '" + server.url("") + "', token_file: token";
  write("run.yaml",
        "notify:\n  hold: 0s\n  channels:\n"
        "    hook: {webhook: {url_file: hook.url, secret_file: hook.key}}\n"
        "    phone: {ntfy: {topic_file: token, " +
            at +
            "}}\n"
            "    team: {slack: {url_file: hook.url}}\n"
            "    friends: {discord: {url_file: hook.url}}\n"
            "    room: {matrix: {room: '!a:b', " +
            at +
            "}}\n"
            "    bot: {telegram: {chat: '1', " +
            at +
            "}}\n"
            "    variable: {ntfy: {topic: 'env:A_TOPIC', " +
            at +
            "}}\n"
            "    alerts: {alertmanager: {url_file: hook.url, token_file: token}}\n"
            "    alive: {ping: {url_file: hook.url}}\n"
            "programs:\n  run: {command: [/bin/sh, -c, 'exit 3'], "
            "budgets: {attempts_without_progress: 2}, backoff: {first: 20ms}}\n");
  ::setenv("A_TOPIC", secret.c_str(), 1);
  const pid_t daemon = start_daemon({"--log-level", "debug", "run.yaml"});
  // Each has been tried once at least, and some have failed.
  wait_until([&] {
    const json::object document = deliveries();
    if (document.empty() || count < 10) return false;
    const auto& channels = document.at("channels").as_array();
    return state() == "FATAL" && channels.size() == 9;
  });
  const auto courier = courier_of(daemon);
  ASSERT_TRUE(courier.has_value());

  std::string said = daemon_log();
  for (const std::string name : {"cmdline", "limits"}) {
    for (const pid_t pid : {daemon, *courier}) {
      said += read_file("/proc/" + std::to_string(pid) + "/" + name, 64 * 1024).value_or("");
    }
  }
  const auto limits = read_file("/proc/" + std::to_string(*courier) + "/limits", 64 * 1024);
  EXPECT_THAT(limits.value_or(""), testing::ContainsRegex("Max core file size +0 +0 "));
  const auto add = [&](const Output& output) { said += output.out + output.err; };
  add(ctl({"notify", "test", "--file", "run.yaml"}));
  add(ctl({"--json", "notify", "test", "--file", "run.yaml"}));
  ::unsetenv("A_TOPIC");
  add(ctl({"notify", "test", "variable", "--file",
           "run.yaml"}));  // it is not set here, and said by its name
  add(ctl({"notify", "list"}));
  add(ctl({"--json", "notify", "list"}));
  add(ctl({"status"}));
  add(ctl({"why", "run"}));
  add(ctl({"config", "check", "run.yaml"}));
  for (const char* route : {"/v1/deliveries", "/v1/programs", "/v1/version", "/v1/events",
                            "/v1/log", "/v1/openapi.json", "/metrics", "/"}) {
    add(run("/usr/bin/curl", {"-s", "--unix-socket", ".trainward/trainward.sock",
                              std::string("http://localhost") + route}));
  }
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
  said += daemon_log();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path(".trainward"))) {
    if (entry.is_regular_file()) said += read_file(entry.path(), 64 << 20).value_or("");
  }
  EXPECT_GT(said.size(), 100'000U);
  EXPECT_THAT(said, HasSubstr("HTTP 403"));
  EXPECT_THAT(said, HasSubstr("A_TOPIC"));
  for (const std::string& hidden : {secret, key, std::string("secret bytes of a signing")}) {
    const auto found = said.find(hidden);
    EXPECT_EQ(found, std::string::npos) << said.substr(found < 200 ? 0 : found - 200, 200);
  }
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
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
