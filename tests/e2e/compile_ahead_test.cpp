// While a board is reset, a helper compiles for the next attempt. The worker is a script that
// stands in for trainward-worker: it lies beside copies of the daemon and its programs.
#include <gmock/gmock.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::HasSubstr;

// The first attempt loses the link; `compile` is told here.
constexpr const char* worker = R"sh(#!/bin/sh
if [ "$1" = compile ]; then
  echo "$$ $* plan=${TRAINWARD_PLAN:+yes} cache=$TRAINWARD_PROGRAM_CACHE own=$OWN tmp=$TMPDIR" > compile.txt
  mv compile.txt "$FOLDER/compiling.txt"
  . "$FOLDER/compile.sh"
fi
if [ "$TRAINWARD_ATTEMPT" = 1 ]; then
  echo "Timeout waiting for Ethernet core service remote IO request" >&2
  exit 1
fi
)sh";

class CompileAhead : public World {
 protected:
  // `compile` is what the helper does, `reset` how long the reset takes.
  int run_with(const std::string& compile, const std::string& reset, const char* script = worker) {
    std::filesystem::create_directories(path("bin"));
    for (const char* name : {"trainwardd", "trainward-shim", "trainward-probe"}) {
      std::filesystem::copy_file(program(name), path("bin") / name);
    }
    write("bin/trainward-worker", script);
    std::filesystem::permissions(path("bin/trainward-worker"), std::filesystem::perms::all);
    write("compile.sh", compile);
    write("reset.sh", reset);
    write("host.yaml", "boards:\n" + healthy_board("{dram_bytes: 1000}"));
    write("run.yaml",
          "programs:\n  run:\n"
          "    device_config: {plugin: sim_n300, host: host.yaml}\n"
          "    environment: {OWN: mine, FOLDER: " +
              folder_.path().string() +
              "}\n"
              "    reset_command: [sh, " +
              path("reset.sh").string() + ", " + folder_.path().string() +
              "]\n    backoff: {first: 10ms}\n");
    return end_of(start({path("bin/trainwardd").string(), "--once", "run.yaml"}));
  }
  std::string events() { return ctl({"events", "run"}).out; }
};

// Neither ends without the other: they run at the same time.
TEST_F(CompileAhead, ProgramsAreCompiledBesideTheReset) {
  EXPECT_EQ(run_with("until [ -e \"$FOLDER/resetting\" ]; do :; done\n"
                     "echo 'head: compiled in 5 ms'; echo 'embed: compiled in 6 ms'; exit 0\n",
                     "touch \"$1/resetting\"\nuntil [ -e \"$1/compiling.txt\" ]; do :; done\n"
                     // Until the daemon has noted the helper's end.
                     "until grep -q 'compiled ahead' \"$1/daemon.log\"; do :; done\n"),
            0)
      << daemon_log();
  const auto all = attempts();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].cause, "ethernet");
  EXPECT_EQ(all[0].remedy, "reset_board");
  EXPECT_THAT(events(),
              HasSubstr("compiled ahead: head: compiled in 5 ms; embed: compiled in 6 ms"));
  const std::string told = read_file(path("compiling.txt"), 1 << 12).value();
  EXPECT_THAT(told, HasSubstr("compile --config"));
  EXPECT_THAT(told, HasSubstr("attempts/0001/worker.json plan=yes cache="));
  EXPECT_THAT(told, HasSubstr("cache/programs own=mine"));
}

TEST_F(CompileAhead, TheNextAttemptWaitsForTheResetOnly) {
  EXPECT_EQ(run_with("exec tail -f /dev/null\n", "until [ -e \"$1/compiling.txt\" ]; do :; done\n"),
            0)
      << daemon_log();
  EXPECT_EQ(attempts().size(), 2U);
  EXPECT_THAT(events(), HasSubstr("compiling ahead was ended: the reset is over"));
  const std::string told = read_file(path("compiling.txt"), 1 << 12).value();
  // Of one that is dead and not yet reaped it is empty.
  const std::string helper = "/proc/" + std::to_string(std::stol(told)) + "/cmdline";
  wait_until([&] { return read_file(helper, 1 << 12).value_or("").empty(); });
}

// The first attempt takes the board with it; it is back once the helper has done its work.
TEST_F(CompileAhead, ProgramsAreCompiledWhileThereIsNoBoard) {
  constexpr const char* loses_board = R"sh(#!/bin/sh
if [ "$1" = compile ]; then
  # In a session of its own, before it ends: what a helper leaves behind in its group ends with it.
  setsid sh -c 'touch "$FOLDER/apart"; until grep -q "compiled ahead" "$FOLDER/daemon.log"; do :; done
   cp "$FOLDER/working.yaml" "$FOLDER/host.new" && mv "$FOLDER/host.new" "$FOLDER/host.yaml"
  ' >/dev/null 2>&1 &
  until [ -e "$FOLDER/apart" ]; do :; done
  echo 'head: compiled in 5 ms'
  exit 0
fi
if [ "$TRAINWARD_ATTEMPT" = 1 ]; then
  cp "$FOLDER/none.yaml" "$FOLDER/host.new" && mv "$FOLDER/host.new" "$FOLDER/host.yaml"
  exit 1
fi
)sh";
  write("working.yaml", "boards:\n" + healthy_board("{dram_bytes: 1000}"));
  write("none.yaml", "boards: []\n");
  EXPECT_EQ(run_with("", "", loses_board), 0) << daemon_log();
  EXPECT_EQ(attempts().size(), 2U);
  EXPECT_THAT(events(), testing::Not(HasSubstr("reset")));
  EXPECT_THAT(events(), HasSubstr("compiled ahead: head: compiled in 5 ms"));
}

TEST_F(CompileAhead, AHelperThatFailsIsOnlyNoted) {
  EXPECT_EQ(run_with("echo 'no such plugin' >&2; exit 78\n",
                     "until grep -q 'compiling ahead failed' \"$1/daemon.log\"; do :; done\n"),
            0)
      << daemon_log();
  EXPECT_EQ(attempts().size(), 2U);
  EXPECT_THAT(events(), HasSubstr("compiling ahead failed with exit code 78: no such plugin"));
}

}  // namespace
}  // namespace trainward::e2e
