// A program under another user than the daemon, which is root: what it may, what it finds, and that
// nothing it does in its own folders leads root out of them.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t nobody = 65534;
constexpr gid_t group = 64321;  // of nobody else on any machine

class OtherUser : public World {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    // The build folder may be closed to others.
    std::filesystem::copy_file(program("fault-worker"), path("fault-worker"));
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  }
  void write_program(const std::string& command, const std::string& more) {
    write("run.yaml", "programs:\n  run:\n    command: " + command + "\n" + more +
                          "    backoff: {first: 50ms, max: 100ms}\n"
                          "    budgets: {attempts_without_progress: 2}\n");
  }
  // Trains until it is stopped, with checkpoints, and tells of all of it.
  void write_trainer(int steps, const std::string& more) {
    write_program("[" + path("fault-worker").string() + ", --steps, '" + std::to_string(steps) +
                      "', --every, '5', --step-ms, '10']",
                  "    watch: {protocol: true}\n    checkpoints: {on_stop: true}\n" + more);
  }
  std::string output(int attempt = 1) {
    return read_file(
               path(".trainward/runs/run/attempts/000" + std::to_string(attempt) + "/stdout.log"),
               1 << 20)
        .value_or("");
  }
  [[nodiscard]] std::filesystem::path checkpoints() const {
    return path(".trainward/runs/run/checkpoints");
  }
  static uid_t owner(const std::filesystem::path& file) {
    struct stat info {};
    return ::lstat(file.c_str(), &info) == 0 ? info.st_uid : 0;
  }
};

TEST_F(OtherUser, AProgramIsItsUserWithItsUmaskLimitsAndHome) {
  write("ask.sh",
        "id -u; id -g; id -G; umask; ulimit -n; ulimit -Hn\n"
        "echo $USER $LOGNAME; echo home=$HOME; echo own=$OWN\n"
        "touch \"$TMPDIR/x\" \"$TRAINWARD_CHECKPOINT_DIR/y\" && echo writes\n"
        "cat run.yaml > /dev/null || true; pwd > /dev/stdout\n");
  write_program("[sh, ask.sh]",
                "    user: nobody\n    group: 64321\n    umask: 077\n"
                "    limits: {open_files: '200:300'}\n    environment: {OWN: mine}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const std::string said = output();
  EXPECT_THAT(said, HasSubstr("65534\n64321\n64321\n0077\n200\n300\nnobody nobody\n"));
  EXPECT_THAT(said, Not(HasSubstr("home=/root")));
  EXPECT_THAT(said, HasSubstr("own=mine\nwrites\n" + folder_.path().string()));
  EXPECT_EQ(owner(checkpoints() / "y"), nobody);
}

TEST_F(OtherUser, ItTrainsIsAdoptedByANextDaemonAndStops) {
  write_trainer(100000, "    user: nobody\n");
  const pid_t first = start_daemon({"run.yaml"});
  wait_until([&] { return last_step() >= 12 && attempts().back().kept_step >= 10; });
  ::kill(first, SIGKILL);
  end_of(first);
  const std::int64_t seen = last_step();
  const pid_t second = start_daemon({"run.yaml"});
  wait_until([&] { return last_step() > seen + 10; });
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(owner("/proc/" + std::to_string(worker_pid())), nobody);
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  EXPECT_EQ(attempts().back().kept_step, attempts().back().last_step) << "saved when asked";
  EXPECT_EQ(ctl({"start", "run"}).code, 0);
  wait_until([&] { return attempts().size() == 2 && attempts().back().last_step > 0; });
  EXPECT_EQ(attempts().back().resume_step, attempts().front().kept_step);
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() == 3 && attempts().back().first_step > 0; });
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints())) {
    EXPECT_EQ(owner(entry.path()), nobody) << entry.path();
  }
  ::kill(second, SIGTERM);
  EXPECT_EQ(end_of(second), 0) << daemon_log();
}

TEST_F(OtherUser, ARunThatRootBeganGoesOnUnderItsUser) {
  write_trainer(100000, "");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return !attempts().empty() && attempts().back().kept_step >= 10; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(owner(checkpoints()), 0U);
  const std::int64_t kept = attempts().back().kept_step;
  const auto steps = static_cast<int>(kept + 10);
  write_trainer(steps, "    user: nobody\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts().back().resume_step, kept);
  EXPECT_EQ(attempts().back().kept_step, steps);
  EXPECT_EQ(owner(checkpoints()), nobody);
}

TEST_F(OtherUser, LinksInItsFoldersLeadRootNowhere) {
  // Whoever follows one of these harms what only root may touch.
  write("victim/step-00000005/manifest.json", "{}");
  write("victim/keep", "of root");
  ASSERT_EQ(::chmod(path("victim").c_str(), 0700), 0);
  const std::string victim = path("victim").string();
  write("hostile.sh",
        "cd $TRAINWARD_CHECKPOINT_DIR\n"
        "for name in step-00000001 step-00000002 .tmp-1 .corrupt-step-00000003; do\n"
        "  ln -s " +
            victim +
            " $name; done\n"
            "ln -s " +
            victim + "/keep latest; mkdir step-00000009; ln -s " + victim +
            "/keep step-00000009/manifest.json; ln -s " + victim +
            "/keep step-00000007\n"
            "ln -s " +
            victim + "/keep status.json; ln -s " + victim +
            " ../cache/programs\n"
            "echo ready; exit 1\n");
  write_program("[sh, hostile.sh]",
                "    user: nobody\n    watch: {protocol: true, checkpoints: "
                "['{checkpoint_dir}/step-*']}\n");
  run("trainwardd", {"--once", "run.yaml"});
  EXPECT_THAT(output(), HasSubstr("ready"));
  for (const char* verb : {"prune", "repair"}) ctl({"ckpt", verb, checkpoints().string()});
  ctl({"ckpt", "pin", (checkpoints() / "step-00000001").string()});
  EXPECT_EQ(read_file(path("victim/keep"), 100).value(), "of root");
  EXPECT_EQ(read_file(path("victim/step-00000005/manifest.json"), 100).value(), "{}");
  EXPECT_EQ(owner(path("victim/keep")), 0U);
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("victim"))) {
    entries += entry.exists() ? 1 : 0;
  }
  EXPECT_EQ(entries, 2U) << "nothing was put there either";
}

TEST_F(OtherUser, NobodyElseMayBecomeAUserAndItIsSaidAtTheStart) {
  write_program("[/bin/true]", "    user: root\n");
  ASSERT_EQ(::chmod(path("run.yaml").c_str(), 0644), 0);
  std::filesystem::copy_file(program("trainwardd"), path("trainwardd"));
  const auto refused =
      run("/usr/bin/setpriv", {"--reuid", "65534", "--regid", "65534", "--clear-groups",
                               path("trainwardd").string(), "--check", "run.yaml"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("programs.run.user: only root may start programs as user "
                                     "'root'"));
  EXPECT_THAT(refused.err, HasSubstr("run trainwardd as root"));
  write_program("[/bin/true]", "    user: no-such-user\n");
  const Output checked = ctl({"config", "check", "run.yaml"});
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.out, HasSubstr("there is no user 'no-such-user' on this machine"));
}

TEST_F(OtherUser, AFolderThatItsUserCannotEnterIsNamed) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  write_program("[/bin/true]", "    user: nobody\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  // It is tried again and again: what is said in between is of the next try.
  std::string said;
  wait_until([&] {
    said = ctl({"status", "--json"}).out;
    return said.find("user 'nobody' cannot enter it") != std::string::npos;
  });
  EXPECT_THAT(said, HasSubstr(checkpoints().string()));
  EXPECT_THAT(said, HasSubstr("chmod o+x"));
  // And once it may, it goes on by itself.
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0711), 0);
  wait_until([&] { return state() == "EXITED"; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

}  // namespace
}  // namespace trainward::e2e
