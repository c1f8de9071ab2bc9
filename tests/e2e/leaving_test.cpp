// What has to leave the machine before `--once` ends: the last checkpoint, the last message.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "http_script.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Leaving : public World {
 protected:
  // Saves a file each tenth step, and goes up so rarely that only the end is a reason.
  void write_run(const std::string& more, const std::string& after = ":") {
    write("train.sh", R"(
step=0
mkdir -p out
while [ $step -lt 40 ]; do
  step=$((step + 1))
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > out/new && mv out/new out/model_step$step.bin; fi
done
)" + after + "\n");
    write("run.yaml", "programs:\n  run:\n    command: [/bin/sh, train.sh]\n" + common() + more);
    fs::create_directory(path("nas"));
  }
  static std::string common() {
    return "    backoff: {first: 20ms, max: 100ms}\n"
           "    watch:\n"
           "      log: [{match: 'finished step (?P<step>\\d+)', phase: train}]\n"
           "      checkpoints: [out/model_step*.bin]\n";
  }
  static std::string upload(const std::string& target) {
    return "    upload: {every: 10h, targets: {nas: " + target + "}}\n";
  }
  // A program as a channel, which writes what it is told below each other.
  void write_teller() {
    write("tell.sh", "#!/bin/sh\ncat >> told; echo >> told\n");
    ASSERT_EQ(::chmod(path("tell.sh").c_str(), 0700), 0);
  }
  std::string channel() {
    return "notify: {channels: {me: {command: [" + path("tell.sh").string() +
           "], tiers: [critical, warning, info]}}}\n";
  }
  std::string told() { return read_file(path("told"), 1 << 20).value_or(""); }
  [[nodiscard]] fs::path sent(int step) const {
    const std::string name = "model_step" + std::to_string(step) + ".bin";
    return path("nas") / "run" / name / name;
  }
};

TEST_F(Leaving, TheLastCheckpointIsInTheFolderBeforeTheEnd) {
  write_run(upload("{folder: " + path("nas").string() + "}"));
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_TRUE(fs::exists(sent(40))) << output.out << output.err;
}

TEST_F(Leaving, ACommandWithoutAFileWaitsAsWell) {
  write_run("");
  const Output output =
      run("trainwardd",
          {"--set", "programs.train.upload.targets.nas.folder=" + path("nas").string(), "--set",
           "programs.train.watch.checkpoints=[out/model_step*.bin]", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_TRUE(fs::exists(path("nas/train/model_step40.bin/model_step40.bin")))
      << output.out << output.err;
}

TEST_F(Leaving, WhoIsToldHearsThatItIsDone) {
  write_teller();
  write_run("");
  write("run.yaml", channel() + read_file(path("run.yaml"), 1 << 16).value());
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_THAT(told(), HasSubstr("done")) << output.out << output.err;
}

// What is held back for a while, or for the morning, would never be told.
TEST_F(Leaving, WhoIsToldHearsThatItWasGivenUp) {
  write_teller();
  write("run.yaml", channel() + "programs:\n  run: {command: [/bin/sh, -c, 'exit 78']}\n");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 78) << output.out << output.err;
  EXPECT_THAT(told(), HasSubstr("critical")) << output.out << output.err;
}

TEST_F(Leaving, QuietHoursHoldNothingBackThatWouldNeverBeTold) {
  write_teller();
  write_run("");
  std::string notify = channel();
  notify.insert(notify.find("channels"), "quiet: '00:00-23:59', ");
  write("run.yaml", notify + read_file(path("run.yaml"), 1 << 16).value());
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_THAT(told(), HasSubstr("done")) << output.out << output.err;
}

// 20 s without anything that gets on, or less when less is wanted.
TEST_F(Leaving, ATargetThatNeverAnswersIsNamedAndHasItsExitCode) {
  write_run(upload("{folder: " + path("away/nas").string() + "}"));
  const Output output = run("trainwardd", {"--once", "--once-wait", "2s", "run.yaml"});
  EXPECT_EQ(output.code, 74) << output.out << output.err;
  EXPECT_THAT(output.out, HasSubstr("waiting for upload run/nas"));
  EXPECT_THAT(output.out, HasSubstr("upload run/nas has not left this machine: "));
  EXPECT_THAT(output.out, HasSubstr("away/nas"));
  EXPECT_THAT(ctl({"events"}).out, HasSubstr("has not left this machine"));
  // With the place comes the checkpoint: nothing runs, and what was left behind leaves.
  fs::create_directories(path("away/nas"));
  const Output again = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(fs::exists(path("away/nas/run/model_step40.bin"))) << again.out << again.err;
}

TEST_F(Leaving, AServerThatListensAndNeverAnswersIsNamed) {
  const test::HttpScript server{{.hold = std::make_shared<test::HttpGate>()}};
  write("hook.url", server.url("/"));
  ASSERT_EQ(::chmod(path("hook.url").c_str(), 0600), 0);
  write("run.yaml",
        "notify: {channels: {night: {webhook: {url_file: hook.url}, tiers: [info]}}}\n"
        "programs:\n  run: {command: [/bin/true]}\n");
  const Output output = run("trainwardd", {"--once", "--once-wait", "2s", "run.yaml"});
  EXPECT_EQ(output.code, 74) << output.out << output.err;
  EXPECT_THAT(output.out, HasSubstr("channel night has not left this machine"));
}

TEST_F(Leaving, NobodyWaitsWhoDoesNotWantTo) {
  write_run(upload("{folder: " + path("away/nas").string() + "}"));
  const Output output = run("trainwardd", {"--once", "--once-wait", "0s", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_THAT(output.out, Not(HasSubstr("waiting for")));
  EXPECT_EQ(run("trainwardd", {"--once", "--once-wait", "soon", "run.yaml"}).code, 2);
}

// What it saves after SIGTERM leaves as well, in what is left of the time to stop.
TEST_F(Leaving, AfterSigtermTheLastCheckpointLeaves) {
  write_run("    deadlines: {stop: 60s}\n" + upload("{folder: " + path("nas").string() + "}"),
            "trap 'echo 41 > out/new; mv out/new out/model_step41.bin; exit 75' TERM; echo > up; "
            "tail -f /dev/null & wait");
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return fs::exists(path("up")); });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_TRUE(fs::exists(sent(41))) << daemon_log();
}

TEST_F(Leaving, AfterSigtermATargetThatNeverAnswersHasTheTimeToStopAndNoMore) {
  write_run("    deadlines: {stop: 2s}\n" + upload("{folder: " + path("away/nas").string() + "}"));
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return daemon_log().find("waiting for upload run/nas") != std::string::npos; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 74) << daemon_log();
  EXPECT_THAT(daemon_log(), HasSubstr("has not left this machine"));
}

// A person who sees what is waited for may have enough of it.
TEST_F(Leaving, CtrlCEndsTheWait) {
  write_run(upload("{folder: " + path("away/nas").string() + "}"));
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return daemon_log().find("waiting for upload run/nas") != std::string::npos; });
  ::kill(daemon, SIGINT);
  EXPECT_EQ(end_of(daemon), 74) << daemon_log();
}

}  // namespace
}  // namespace trainward::e2e
