// Other users than root: a member of the socket's group, somebody outside it, and a daemon whose
// user may have no more processes. And names that look like anything but a name.

#include "world.hpp"

namespace trainward::e2e {
namespace {

constexpr uid_t nobody = 65534;
constexpr gid_t group = 64321;  // of nobody else on any machine

class AttackRights : public World {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    // The build folder may be closed to others.
    for (const char* name : {"trainwardd", "trainwardctl", "trainward-shim", "fault-worker"}) {
      std::filesystem::copy_file(program(name), path(name));
    }
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  }

  [[nodiscard]] std::string own(const std::string& name) const { return path(name).string(); }

  static std::vector<std::string> as(uid_t user, gid_t main, const std::string& groups) {
    std::vector<std::string> words{"/usr/bin/setpriv",   "--reuid",
                                   std::to_string(user), "--regid",
                                   std::to_string(main), "--inh-caps=-all"};
    words.push_back(groups.empty() ? "--clear-groups" : "--groups=" + groups);
    return words;
  }

  Output run_as(std::vector<std::string> words, const std::vector<std::string>& arguments) {
    words.push_back(own("trainwardctl"));
    words.insert(words.end(), {"--state-dir", own("state")});
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto out = open_file(path(".out"), O_RDWR | O_CREAT | O_TRUNC);
    Output output;
    output.code = wait_for(spawn(words, out->get(), out->get()));
    output.out = read_file(path(".out"), 1 << 20).value();
    return output;
  }

  void write_program(const std::string& more = "") {
    write("run.yaml",
          "state_dir: " + own("state") + "\nprograms:\n  run:\n    command: [" +
              own("fault-worker") +
              ", --steps, '100000', --every, '50', --step-ms, '20', --lines, '100000']\n"
              "    directory: " +
              folder_.path().string() +
              "\n    watch: {protocol: true}\n    backoff: {first: 100ms, max: 200ms}\n" + more);
  }

  std::string state_of_run() {
    auto store = store::Store::open_read_only(path("state/trainward.db"));
    if (!store) return "";
    auto row = store->program("run");
    return row && *row ? (*row)->state : "";
  }
};

TEST_F(AttackRights, AMemberOfTheGroupMayDoEverythingAndAnOutsiderNothing) {
  write_program();
  auto words = as(0, group, "");
  words.push_back(own("trainwardd"));
  words.push_back("run.yaml");
  const mode_t before = ::umask(027);
  const pid_t daemon = start(words);
  ::umask(before);
  wait_until([&] { return state_of_run() == "RUNNING"; });

  const auto member = as(nobody, nobody, std::to_string(group));
  for (const std::vector<std::string>& command : {std::vector<std::string>{"status"},
                                                  {"tail", "run"},
                                                  {"history"},
                                                  {"stop", "run"},
                                                  {"why", "run"},
                                                  {"start", "run"},
                                                  {"report", "run"},
                                                  {"ckpt", "list", "run"}}) {
    const Output output = run_as(member, command);
    // `status` of what is stopped is 3; here it runs.
    EXPECT_EQ(output.code, 0) << command.front() << ": " << output.out;
  }
  const auto outsider = as(nobody, nobody, "");
  for (const char* verb : {"status", "stop"}) {
    const Output output = run_as(outsider, {verb, "run"});
    EXPECT_EQ(output.code, 4);
    EXPECT_NE(output.out.find("join the group that owns the socket"), std::string::npos)
        << output.out;
  }

  ::kill(daemon, SIGKILL);
  EXPECT_EQ(end_of(daemon), -SIGKILL);
  const Output down = run_as(member, {"status"});
  EXPECT_NE(down.out.find("answering from the database"), std::string::npos) << down.out;
  EXPECT_NE(down.out.find("RUNNING"), std::string::npos) << down.out;

  // It comes back to what was left, and ends it.
  const pid_t next = start({own("trainwardd"), "run.yaml"});
  wait_until([&] { return run_as(as(0, 0, ""), {"pid"}).code == 0; });
  ::kill(next, SIGTERM);
  EXPECT_EQ(end_of(next), 0) << daemon_log();
  const Output ended = run_as(member, {"history"});
  EXPECT_EQ(ended.code, 0) << ended.out;
}

// Whichever of daemon, shim and worker cannot be started for want of processes: it is waited out.
TEST_F(AttackRights, WantOfProcessesIsNoFaultOfTheConfiguration) {
  write_program();
  ASSERT_EQ(::chown(folder_.path().c_str(), nobody, nobody), 0);
  bool refused = false;
  bool ran = false;
  for (int more = 1; !ran && more < 32; ++more) {
    SCOPED_TRACE(more);
    std::filesystem::remove_all(path("state"));
    auto words = as(nobody, nobody, "");
    words.insert(words.end(), {"/usr/bin/prlimit", "--nproc=" + std::to_string(more) + ":4096",
                               own("trainwardd"), "run.yaml"});
    const pid_t daemon = start(words);
    std::string state;
    // With too few for its own threads the daemon itself may end, and says so.
    bool gone = false;
    wait_until([&] {
      state = state_of_run();
      siginfo_t info{};
      gone = ::waitid(P_PID, static_cast<id_t>(daemon), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == daemon;
      return gone || state == "BACKOFF" || state == "RUNNING" || state == "FATAL";
    });
    EXPECT_NE(state, "FATAL") << daemon_log();
    refused = refused || state == "BACKOFF";
    ran = state == "RUNNING";
    if (!gone && state == "BACKOFF") {
      auto raise = as(nobody, nobody, "");
      raise.insert(raise.end(),
                   {"/usr/bin/prlimit", "--pid", std::to_string(daemon), "--nproc=4096"});
      ASSERT_EQ(wait_for(spawn(raise, STDOUT_FILENO, STDERR_FILENO)), 0);
      wait_until([&] { return state_of_run() == "RUNNING"; });
    }
    ask_to_end(daemon);
    end_of(daemon);
  }
  EXPECT_TRUE(refused) << "no launch failed for want of processes";
  EXPECT_TRUE(ran);
}

class AttackNames : public World {};

TEST_F(AttackNames, ANameOfEveryAllowedCharacterIsANameEverywhere) {
  const std::vector<std::string> names{"-rf",
                                       "--help",
                                       "-",
                                       "-1",
                                       "...",
                                       ".hidden",
                                       "a",
                                       "a.1",
                                       "0",
                                       "true",
                                       "ALL",
                                       "status",
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                                       "0123456789_.-",
                                       std::string(64, 'x')};
  std::string text = "programs:\n";
  for (const std::string& name : names) {
    text += "  '" + name + "': {command: [sh, -c, 'echo I am $TRAINWARD_RUN; exec sleep 1000']}\n";
  }
  write("names.yaml", text);
  const pid_t daemon = start_daemon({"names.yaml"});
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    wait_until([&] { return state(name) == "RUNNING"; });
    EXPECT_GT(std::atoi(ctl({"pid", "--", name}).out.c_str()), 0);
    const std::string said = "I am " + name + "\n";
    wait_until([&] { return ctl({"tail", "--", name}).out == said; });
    EXPECT_EQ(ctl({"stop", "--", name}).out, name + ": stopped\n");
    EXPECT_EQ(ctl({"why", "--", name}).code, 0);
  }
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

}  // namespace
}  // namespace trainward::e2e
