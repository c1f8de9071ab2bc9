// The daemon is killed at random instants, and at every named place in its code; training, its
// output and its history do not notice.
//
// TRAINWARD_KILLS (20) and TRAINWARD_LINES (200000) make it larger; TRAINWARD_SEED repeats a run.

#include <algorithm>
#include <charconv>
#include <random>
#include <set>

#include "common/base/text.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class DaemonKill : public World {
 protected:
  void write_program(const std::string& arguments) {
    write("run.yaml",
          "programs:\n  run:\n    command: [" + program("fault-worker") + arguments +
              "]\n    watch: {protocol: true}\n    checkpoints: {every: 50, on_stop: true}\n"
              "    deadlines: {start: 30s, train_floor: 30s}\n    backoff: {first: 10ms}\n"
              "    logs: {max_size: 1MiB, keep: 1000}\n");
  }

  // The worker's whole output, through all rotated files, oldest first.
  std::string output_of(std::int64_t attempt) {
    const auto folder = path(".trainward/runs/run/attempts") / fmt::format("{:04}", attempt);
    std::vector<std::pair<int, std::filesystem::path>> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "stdout.log") files.emplace_back(0, entry.path());
      if (!name.starts_with("stdout.log.")) continue;
      int age = 0;
      const auto* end = name.data() + name.size();
      if (std::from_chars(name.data() + 11, end, age).ptr == end)
        files.emplace_back(-age, entry.path());
    }
    std::sort(files.begin(), files.end());
    std::string text;
    for (const auto& [age, file] : files) text += read_file(file, std::size_t{1} << 30).value();
    return text;
  }

  void expect_whole(const std::string& text, std::uint64_t lines) {
    std::uint64_t next = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const auto end = rest.find('\n');
      ASSERT_NE(end, std::string_view::npos) << "a torn line after line " << next;
      const std::string expected = fmt::format("line {:09} of the worker's output", next);
      ASSERT_EQ(rest.substr(0, end), expected);
      rest.remove_prefix(end + 1);
      ++next;
    }
    EXPECT_EQ(next, lines);
  }

  void expect_each_step_once(std::int64_t steps) {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    EXPECT_EQ(store->highest_step("run").value(), steps);
    EXPECT_EQ(store->step_rows("run").value(), steps);
  }

  // One that has ended and that nobody has reaped yet does not.
  static bool lives(pid_t pid) {
    const std::string stat = read_file(fmt::format("/proc/{}/stat", pid), 4096).value_or("");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
  }

  // A launch that was decided and never made is an attempt of its own, in which no worker ran.
  void expect_one_copy() {
    EXPECT_FALSE(std::filesystem::exists(path(".trainward/runs/run/second-copy")));
    std::set<std::int64_t> pids;
    for (const auto& attempt : attempts()) {
      if (attempt.pid > 0) pids.insert(attempt.pid);
    }
    EXPECT_EQ(pids.size(), 1U);
  }
};

TEST_F(DaemonKill, AtRandomInstantsCostsNothing) {
  const auto kills = number_from("TRAINWARD_KILLS", 20);
  const auto lines = number_from("TRAINWARD_LINES", 200'000);
  const auto seed = number_from("TRAINWARD_SEED", 7);
  std::printf("seed %lu, %lu kills, %lu lines\n", static_cast<unsigned long>(seed),
              static_cast<unsigned long>(kills), static_cast<unsigned long>(lines));
  std::mt19937_64 random(seed);
  const auto steps = static_cast<std::int64_t>(100 * kills);
  write_program(
      fmt::format(", --steps, '{}', --every, '50', --step-ms, '2', --lines, '{}'", steps, lines));
  for (std::uint64_t i = 0; i < kills; ++i) {
    const pid_t daemon = start_daemon({"run.yaml"});
    // An instant anywhere from before it has opened its database to well into its work.
    ::poll(nullptr, 0, static_cast<int>(random() % 150));
    ::kill(daemon, SIGKILL);
    EXPECT_EQ(end_of(daemon), -SIGKILL);
  }
  const pid_t last = start_daemon({"--once", "run.yaml"});
  EXPECT_EQ(end_of(last), 0) << daemon_log();
  const auto done = attempts().back();
  EXPECT_EQ(done.cause, "done");
  EXPECT_EQ(done.exit_code, 0);
  expect_one_copy();
  expect_each_step_once(steps);
  expect_whole(output_of(done.number), lines);
}

TEST_F(DaemonKill, AtEveryNamedPlaceLeavesOneWorkerAndOneHistory) {
  // Each passage of the first start, and of the stop.
  for (const std::string point :
       {"turn.before_commit", "turn.before_commit:2", "turn.before_commit:3",
        "turn.before_commit:5", "turn.after_commit", "turn.after_commit:2", "turn.after_commit:3",
        "turn.after_commit:5", "launch.decided", "launch.prepared", "launch.spawned", "launch.done",
        "signal.decided"}) {
    SCOPED_TRACE(point);
    std::filesystem::remove_all(path(".trainward"));
    write_program(", --steps, '30', --every, '10', --step-ms, '2', --lines, '3000'");
    ::setenv("TRAINWARD_FAULT", point.c_str(), 1);
    const bool at_stop = point.starts_with("signal");
    const pid_t first = start_daemon(at_stop ? std::vector<std::string>{"run.yaml"}
                                             : std::vector<std::string>{"--once", "run.yaml"});
    ::unsetenv("TRAINWARD_FAULT");
    if (at_stop) {
      wait_until([&] { return last_step() > 0; });
      ::kill(first, SIGTERM);
    }
    EXPECT_EQ(end_of(first), -SIGKILL) << "the place was not passed\n" << daemon_log();
    const pid_t second = start_daemon({"--once", "run.yaml"});
    // Asked to go, the first meant to leave the work to a next daemon; so it goes on.
    EXPECT_EQ(end_of(second), 0) << daemon_log();
    EXPECT_FALSE(std::filesystem::exists(path(".trainward/runs/run/second-copy")));
    if (at_stop) continue;
    EXPECT_EQ(attempts().back().cause, "done");
    expect_one_copy();
    expect_each_step_once(30);
    expect_whole(output_of(attempts().back().number), 3000);
  }
}

TEST_F(DaemonKill, AKilledShimTakesItsWorkerAlongAndTheNextStartIsClean) {
  write_program(", --steps, '400', --every, '10', --step-ms, '5', --helper");
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 20; });
  const std::string journal =
      read_file(path(".trainward/runs/run/attempts/0001/journal.ndjson"), 1 << 20).value();
  const auto at = journal.find("\"shim_pid\":");
  ASSERT_NE(at, std::string::npos);
  ::kill(static_cast<pid_t>(std::atol(journal.c_str() + at + 11)), SIGKILL);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts()[0].cause, "lost");
  EXPECT_EQ(attempts()[1].cause, "done");
  EXPECT_FALSE(std::filesystem::exists(path(".trainward/runs/run/second-copy")));
  // Each attempt left a helper in a session of its own; none of them may live.
  const std::string helpers = read_file(path(".trainward/runs/run/helpers"), 4096).value();
  EXPECT_EQ(std::count(helpers.begin(), helpers.end(), '\n'), 2);
  for (std::size_t from = 0; from < helpers.size(); from = helpers.find('\n', from) + 1) {
    const auto pid = static_cast<pid_t>(std::atol(helpers.c_str() + from));
    EXPECT_FALSE(lives(pid)) << "helper " << pid << " lives";
  }
}

}  // namespace
}  // namespace trainward::e2e
