// Checkpoints that verified and are not where they were: a share that is away, a folder that was
// removed; and those of an earlier run that lie beside.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/json/json.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Saves to 40 on a share, then waits for its death; the next one goes on to 50. Makes its folder
// where there is none, as many scripts do.
constexpr const char* saver = R"(
step=0
[ -n "$1" ] && step=$(cat "$1")
mkdir -p nas/run
if [ $step -lt 40 ]; then last=40; else last=50; fi
while [ $step -lt $last ]; do
  step=$((step + 1))
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > nas/run/new && mv nas/run/new nas/run/step-$step.bin; fi
done
[ $last -eq 50 ] && exit 0
while [ ! -e die ]; do tail -f /dev/null & sleep=$!; read x < dying; kill $sleep; done
exit 7
)";

class MissingCheckpoints : public World {
 protected:
  void write_saver(const std::string& argument = ", [\"{checkpoint}\"]") {
    ASSERT_EQ(::mkfifo(path("dying").c_str(), 0600), 0);
    write("train.sh", saver);
    write("run.yaml", "programs:\n  run:\n    command: [/bin/sh, train.sh" + argument +
                          "]\n    backoff: {first: 20ms, max: 50ms}\n    watch:\n"
                          "      log: [{match: 'finished step (?P<step>\\d+)', phase: train}]\n"
                          "      checkpoints: [nas/run/step-*.bin]\n");
    fs::create_directories(path("nas/run"));
  }
  void die() {
    write("die", "");
    std::ofstream(path("dying")) << "now\n";
  }
  std::int64_t kept() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    return store ? store->newest_checkpoint("run").value_or(0) : 0;
  }
  std::string reason() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return {};
    const auto row = store->program("run");
    return row && *row ? (*row)->reason : "";
  }
  // It looks again all the while, and says so in between.
  std::string wait_for_reason(const std::string& words) {
    std::string found;
    wait_until([&] { return (found = reason()).find(words) != std::string::npos; });
    return found;
  }
  void share_goes_away() {
    fs::rename(path("nas"), path("nas.away"));
    fs::create_directory(path("nas"));
  }
  void share_comes_back() {
    fs::remove_all(path("nas"));
    fs::rename(path("nas.away"), path("nas"));
  }
  void expect_it_goes_on() {
    wait_until([&] { return state() == "EXITED"; });
    ASSERT_EQ(attempts().size(), 2U);
    EXPECT_EQ(attempts().back().resume_step, 40);
    EXPECT_EQ(attempts().back().last_step, 50);
    EXPECT_TRUE(fs::exists(path("nas/run/step-50.bin")));
  }
};

TEST_F(MissingCheckpoints, AShareThatGoesAwayIsWaitedForAndNothingBeginsBeneathItsMountPoint) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return kept() == 40; });
  share_goes_away();
  die();
  wait_for_reason("which is not there now");
  wait_until([&] { return state() == "BACKOFF"; });
  EXPECT_FALSE(fs::exists(path("nas/run"))) << "nothing was begun in there";
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_THAT(ctl({"events"}).out, HasSubstr("step 40 was verified in"));
  wait_until([&] { return ctl({"status"}).out.find("waiting for it") != std::string::npos; });
  // The mount point has a folder of that name as well: it is not the one.
  fs::create_directory(path("nas/run"));
  wait_for_reason("another folder is there now");
  EXPECT_EQ(attempts().size(), 1U);
  share_comes_back();
  expect_it_goes_on();
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// It finds its own place, so that it would make its folder and begin anew.
TEST_F(MissingCheckpoints, AProgramThatFindsItsOwnPlaceWaitsAsWell) {
  write_saver(", \"$(cat newest)\"");
  write("train.sh",
        "set -- $(ls nas/run/step-*.bin 2>/dev/null | sort -V | tail -n 1)\n" + std::string(saver));
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, train.sh]\n"
        "    backoff: {first: 20ms, max: 50ms}\n    watch:\n"
        "      log: [{match: 'finished step (?P<step>\\d+)', phase: train}]\n"
        "      checkpoints: [nas/run/step-*.bin]\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return kept() == 40; });
  share_goes_away();
  die();
  wait_for_reason("which is not there now");
  EXPECT_FALSE(fs::exists(path("nas/run")));
  share_comes_back();
  wait_until([&] { return state() == "EXITED"; });
  EXPECT_EQ(attempts().size(), 2U);
  EXPECT_EQ(attempts().back().first_step, 41);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// To begin anew is for a person to say, also where nothing is left to go on from.
TEST_F(MissingCheckpoints, ToBeginAnewTakesAPersonsWord) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return kept() == 40; });
  for (const auto& entry : fs::directory_iterator(path("nas/run"))) fs::remove(entry.path());
  die();
  EXPECT_THAT(wait_for_reason("no checkpoint is left there"),
              HasSubstr("trainwardctl start run --from-scratch"));
  EXPECT_EQ(ctl({"start", "all", "--from-scratch"}).code, 2);
  fs::remove(path("die"));
  const Output started = ctl({"start", "run", "--from-scratch"});
  EXPECT_EQ(started.out, "run: started\n") << started.err;
  wait_until([&] { return kept() == 40; });
  EXPECT_EQ(attempts().back().resume_step, 0);
  EXPECT_EQ(attempts().back().first_step, 1);
  EXPECT_THAT(ctl({"start", "run", "--from-scratch"}).out, HasSubstr("already started"));
  // And what it saves from then on is gone on from.
  die();
  wait_until([&] { return state() == "EXITED"; });
  EXPECT_EQ(attempts().back().resume_step, 40);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// What lay there before is not gone on from, also by the attempt after the next.
TEST_F(MissingCheckpoints, FromScratchGoesOnFromNothingThatWasThere) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return kept() == 40; });
  ASSERT_EQ(ctl({"stop", "run"}).code, 0);
  write("train.sh", "echo \"told '$1'\" >> told; exit 3\n");
  ctl({"start", "run", "--from-scratch"});
  wait_until([&] { return attempts().size() >= 3; });
  ctl({"stop", "run"});
  const std::string told = read_file(path("told"), 1 << 16).value_or("");
  EXPECT_THAT(told, HasSubstr("told ''"));
  EXPECT_THAT(told, Not(HasSubstr("nas/run")));
  EXPECT_TRUE(fs::exists(path("nas/run/step-40.bin"))) << "a command's files stay";
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

TEST_F(MissingCheckpoints, OurOwnWorkersFolderIsWaitedForAsWell) {
  write_training("run.yaml", 100'000, "");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return kept() > 0; });
  ASSERT_EQ(ctl({"stop", "run"}).code, 0);
  const std::int64_t newest = kept();
  const fs::path root = path(".trainward/runs/run/checkpoints");
  fs::rename(root, path("elsewhere"));
  ctl({"start", "run"});
  wait_for_reason("was verified in");
  EXPECT_EQ(attempts().size(), 1U);
  fs::remove_all(root);
  fs::rename(path("elsewhere"), root);
  wait_until([&] { return attempts().size() == 2 && attempts().back().last_step > newest; });
  EXPECT_EQ(attempts().back().resume_step, newest);
  ASSERT_EQ(ctl({"stop", "run"}).code, 0);
  ASSERT_EQ(ctl({"start", "run", "--from-scratch"}).code, 0);
  wait_until([&] { return attempts().size() == 3 && attempts().back().first_step > 0; });
  EXPECT_EQ(attempts().back().first_step, 1);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// A new run in an old folder: what the one before left there has larger numbers, and is not its
// own.
TEST_F(MissingCheckpoints, CheckpointsOfAnEarlierRunNeitherGoNorCount) {
  fs::create_directories(path("out"));
  for (const int step : {500, 600, 700}) {
    const auto old = path("out/step-" + std::to_string(step) + ".bin");
    write("out/step-" + std::to_string(step) + ".bin", std::to_string(step));
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(72));
  }
  write("train.sh", R"(
for step in $(seq 1 30); do
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then
    echo $step > out/new && mv out/new out/step-$step.bin
    while ! trainwardctl ckpt list run 2>/dev/null | grep -q "verified.*\b$step\b\|\b$step\b.*verified"; do :; done
  fi
done
)");
  ::setenv("PATH", (std::string(PROGRAMS) + ":" + std::getenv("PATH")).c_str(), 1);
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, train.sh]\n"
        "    backoff: {first: 20ms}\n    watch:\n"
        "      log: [{match: 'finished step (?P<step>\\d+)', phase: train}]\n"
        "      checkpoints: [out/step-*.bin]\n    checkpoints: {foreign: true, keep: 2}\n");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  for (const int step : {20, 30, 500, 600, 700}) {
    EXPECT_TRUE(fs::exists(path("out/step-" + std::to_string(step) + ".bin"))) << step;
  }
  const std::string events = ctl({"events", "-n", "100"}).out;
  EXPECT_THAT(events, HasSubstr("older than this run, and left as they are: "));
  EXPECT_THAT(events, HasSubstr("step-700.bin"));
  EXPECT_FALSE(fs::exists(path("out/step-10.bin"))) << events;
  EXPECT_THAT(events, HasSubstr("removed, as newer ones are kept: step-10.bin"));
}

}  // namespace
}  // namespace trainward::e2e
