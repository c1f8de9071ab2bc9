// A program that leaves and prints whatever it likes: it costs the daemon little memory and few
// descriptors, and does nothing to a terminal.
#include <gmock/gmock.h>

#include <algorithm>

#include "memory_use.hpp"
#include "terminal_program.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class ForeignBounds : public World {
 protected:
  void SetUp() override {
    if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
      GTEST_SKIP() << "python3 is not here";
    }
  }
  static std::size_t descriptors(pid_t pid) {
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator at(fmt::format("/proc/{}/fd", pid), error), end;
         !error && at != end; at.increment(error)) {
      ++count;
    }
    return count;
  }
};

// Waits until it is told to go; then bombs and, as the newest, checkpoints that are whole.
constexpr const char* bombs = R"(
import os, struct, time
def wait(name):
    while not os.path.exists(name): time.sleep(0.01)
def put(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name + '.part', 'wb').write(data); os.rename(name + '.part', name)
def header(text): return struct.pack('<Q', len(text)) + text
M = 1 << 20
def fill(begin, piece, end): return begin + piece * ((63 * M - len(begin) - len(end)) // len(piece)) + end
good = header(b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}') + b'x' * 8
print('step 1 loss 2.0', flush=True)
open('ready', 'w').close(); wait('go')
put('out/ckpt-1/model.safetensors', header(fill(b'{"a":[', b'0,', b'0]}')))
put('out/ckpt-2/model.safetensors', header(fill(b'{', b'"a":{"data_offsets":[0,0]},', b'"z":0}')))
put('out/ckpt-3/model.safetensors.index.json', fill(b'{"weight_map":{', b'"a":"f",', b'"z":"f"}}'))
put('out/ckpt-4/trainer_state.json', fill(b'{"global_step":4,"log_history":[', b'{"a":1},', b'{}]}'))
at = os.open('out', os.O_RDONLY)
for name in ['.trainward-removing-deep'] + ['d'] * 3000:
    os.mkdir(name, dir_fd=at); inner = os.open(name, os.O_RDONLY, dir_fd=at); os.close(at); at = inner
os.close(at)
for step in range(5, 9):
    put(f'out/ckpt-{step}/model.safetensors', good)
    print(f'step {step} loss 1.0', flush=True)
    time.sleep(0.2)
)";

TEST_F(ForeignBounds, WhatAProgramLeavesCostsTheDaemonLittle) {
  write("train.py", bombs);
  write("run.yaml",
        "programs:\n  run:\n    command: [python3, train.py]\n"
        "    watch: {auto: true, checkpoints: ['out/ckpt-*']}\n"
        "    checkpoints: {keep: 2, foreign: true}\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return fs::exists(path("ready")); });
  const std::string process = std::to_string(daemon);
  const std::int64_t idle = memory_of(process, "VmHWM");
  std::size_t most = 0;
  write("go", "");
  const auto has_been_pruned = [&] {
    most = std::max(most, descriptors(daemon));
    return fs::exists(path("out/ckpt-8")) && !fs::exists(path("out/ckpt-5")) &&
           !fs::exists(path("out/ckpt-1")) && !fs::exists(path("out/.trainward-removing-deep"));
  };
  wait_until([&] { return has_been_pruned() || state() == "FATAL"; });
  EXPECT_TRUE(has_been_pruned()) << daemon_log();
  wait_until([&] { return attempts().back().kept_step == 8 || state() == "FATAL"; });
  const std::int64_t more = memory_of(process, "VmHWM") - idle;
  fmt::print("{} KiB beyond the {} of an idle daemon, {} descriptors\n", more, idle, most);
  EXPECT_LT(memory_can_be_measured ? more : 0, 64 * 1024);
  EXPECT_LE(most, 64U);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(ForeignBounds, WhatAProgramPrintsDoesNothingToATerminal) {
  write("train.py",
        "import sys\n"
        "sys.stdout.buffer.write(b'step 1 loss 2.0\\n\\x1b]0;pwned\\x07\\x1b[2Jtitle '\n"
        "  b'\\xc2\\x9b31m \\xe2\\x80\\xaetxt.exe \\xe2\\x81\\xa6 \\xff\\xfe end\\n')\n"
        "sys.stderr.buffer.write(b'RuntimeError: \\x1b]0;pwned\\x07\\xe2\\x80\\xae out of "
        "memory\\n')\n"
        "sys.exit(3)\n");
  write("run.yaml",
        "programs:\n  run:\n    command: [python3, train.py]\n    backoff: {first: 20ms}\n"
        "    budgets: {attempts_without_progress: 1}\n");
  (void)run("trainwardd", {"--once", "run.yaml"});
  const std::vector<std::vector<std::string>> commands{
      {"tail", "run"},
      {"tail", "run", "stderr"},
      {"status"},
      {"why", "run", "--lines", "20"},
      {"events"},
      {"history", "run"},
      {"watch", ".trainward/runs/run/attempts/0001/stdout.log"},
      {"report", "run"},
      {"classify", ".trainward/runs/run/attempts/0001/stderr.log"}};
  for (std::vector<std::string> command : commands) {
    SCOPED_TRACE(command.front());
    command.insert(command.begin(), {program("trainwardctl"), "--no-color"});
    TerminalProgram terminal(command, folder_.path().string(), 200, 100);
    (void)terminal.end();
    EXPECT_FALSE(terminal.raw.empty());
    for (const char* byte : {"\x1b", "\a", "\xc2\x9b", "\u202E", "\u2066", "\xff", "\xfe"}) {
      EXPECT_THAT(terminal.raw, Not(HasSubstr(byte)));
    }
  }
}

}  // namespace
}  // namespace trainward::e2e
