// One run in several processes: what becomes of it when one of them dies.

#include <gmock/gmock.h>

#include <charconv>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::HasSubstr;

class Ranks : public World {
 protected:
  // One that has ended has no command line, also while nobody has fetched its status.
  static bool runs(pid_t pid) {
    return !read_file("/proc/" + std::to_string(pid) + "/cmdline", 1 << 20).value_or("").empty();
  }
  void write_run(int steps, const std::string& model = "femto_1x") {
    write_training("run.yaml", steps, ", mesh_shape: [1, 2], enable_ddp: true", "", "", model);
  }

  std::string worker_log(const char* name) {
    std::string text;
    for (const store::AttemptRow& attempt : attempts()) {
      text += read_file(std::filesystem::path(attempt.folder) / name, 16 << 20).value_or("");
    }
    return text;
  }
  // The processes of the newest attempt, by rank.
  std::vector<pid_t> ranks() {
    const std::string log = worker_log("stdout.log");
    const std::string_view words = " ranks, processes ";
    const std::size_t at = log.rfind(words);
    std::vector<pid_t> pids;
    if (at == std::string::npos) return pids;
    const char* next = log.data() + at + words.size() - 2;
    do {
      pid_t pid = 0;
      next = std::from_chars(next + 2, log.data() + log.size(), pid).ptr;
      pids.push_back(pid);
    } while (*next == ',');
    return pids;
  }
};

TEST_F(Ranks, ARankThatDiesIsNamedAndCostsNothingThatWasSaved) {
  write_run(100'000);
  for (const std::size_t victim : {1U, 0U}) {
    SCOPED_TRACE(victim);
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_until([&] { return last_step() >= 12; });
    const std::vector<pid_t> pids = ranks();
    ASSERT_EQ(pids.size(), 2U) << worker_log("stdout.log");
    ::kill(pids[victim], SIGKILL);
    wait_until([&] { return attempts().size() >= 2 && attempts()[1].last_step > 0; });
    ask_to_end(daemon);
    EXPECT_EQ(end_of(daemon), 75) << daemon_log();
    for (const pid_t pid : pids) EXPECT_FALSE(runs(pid)) << pid;
    EXPECT_THAT(worker_log("stderr.log"),
                HasSubstr(fmt::format("rank {} of 2 (process {}) died of signal 9 (Killed)", victim,
                                      pids[victim])));
    const auto all = attempts();
    EXPECT_THAT(ctl({"why", "run", "1"}).out, HasSubstr(fmt::format("rank {} of 2", victim)));
    EXPECT_EQ(all[1].resume_step, all[0].kept_step);
    EXPECT_EQ(all.back().kept_step, all.back().last_step) << "a stop saves";
    std::filesystem::remove_all(path(".trainward"));
  }
}

// When it looks, mpiexec has killed the others too.
TEST_F(Ranks, TheOneThatDiedFirstIsNamedHoweverLateTheLauncherLooks) {
  write_run(100'000);
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 12; });
  const std::vector<pid_t> pids = ranks();
  ASSERT_EQ(pids.size(), 2U) << worker_log("stdout.log");
  const pid_t launcher = static_cast<pid_t>(std::stol(ctl({"pid", "run"}).out));
  ::kill(launcher, SIGSTOP);
  wait_until([&] {
    const auto stat = read_file(fmt::format("/proc/{}/stat", launcher), 4096).value_or("");
    return stat.find(") T ") != std::string::npos;
  });
  ::kill(pids[1], SIGKILL);
  wait_until([&] { return !runs(pids[0]) && !runs(pids[1]); });
  ::kill(launcher, SIGCONT);
  wait_until([&] { return attempts().size() >= 2 && attempts()[1].last_step > 0; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_THAT(worker_log("stderr.log"),
              HasSubstr(fmt::format("rank 1 of 2 (process {}) died of signal 9", pids[1])));
}

TEST_F(Ranks, WhatEachRankDoesIsKept) {
  write_run(300);
  ASSERT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
  const auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
  ASSERT_TRUE(store);
  const auto ranks = store->devices("run", 1).value();
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[1].name, "rank 1");
  for (const ToldDevice& rank : ranks) {
    EXPECT_GT(rank.figures.loss.value_or(0), 0);
    EXPECT_GT(rank.figures.compute_ms.value_or(0), 0);
    EXPECT_GT(rank.figures.collective_ms.value_or(0), 0);
  }
}

TEST_F(Ranks, TheWeightsAreThoseOfAnUndisturbedRun) {
  write_run(60, "gpt2_femto");
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const std::string undisturbed = digest();
  std::filesystem::remove_all(path(".trainward"));
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 12; });
  const std::vector<pid_t> pids = ranks();
  ASSERT_EQ(pids.size(), 2U);
  ::kill(pids[1], SIGKILL);
  ASSERT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(digest(), undisturbed);
}

TEST_F(Ranks, WhatOnlyAPersonCanChangeIsSoForAllOfThem) {
  write("run.json",
        R"({"training_config": {"model": "femto_1x", "batch_size": 2, "data": ["nowhere"]},
            "device_config": {"mesh_shape": [1, 2], "enable_ddp": true}})");
  const Output output = run("trainward-worker", {"train", "--config", "run.json"});
  EXPECT_EQ(output.code, 78);
  EXPECT_THAT(output.err, HasSubstr("nowhere"));
  EXPECT_THAT(output.err, testing::Not(HasSubstr("rank")));
}

TEST_F(Ranks, NoMpiIsSaidAtOnce) {
  write("run.json",
        R"({"training_config": {"model": "femto_1x", "batch_size": 2, "data": ["text.txt"]},
            "device_config": {"mesh_shape": [1, 2], "enable_ddp": true}})");
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Output output = run("trainward-worker", {"train", "--config", "run.json"});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(output.code, 78);
  EXPECT_THAT(output.err, HasSubstr("install openmpi-bin"));
}

}  // namespace
}  // namespace trainward::e2e
