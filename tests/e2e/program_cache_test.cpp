// Compiled programs and kernels, seen from the supervisor: what workers tell of them is on record,
// their folders outlive attempts, and a damaged cache is purged for its board alone.
#include <gmock/gmock.h>

#include "common/base/json/json.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::HasSubstr;

constexpr const char* serial = "010001451170c0c4";  // of healthy_board()

class ProgramCacheTest : public World {
 protected:
  [[nodiscard]] std::filesystem::path database() const { return path(".trainward/trainward.db"); }
  [[nodiscard]] json::array compiled() const {
    return store::Store::open_read_only(database())->compiled_json("run").value();
  }
  [[nodiscard]] json::value document(std::vector<std::string> words) {
    words.emplace_back("--json");
    const Output output = ctl(words);
    auto value = parse_json(output.out, "stdout");
    EXPECT_TRUE(value) << output.out << output.err;
    return value.value_or(nullptr);
  }
};

TEST_F(ProgramCacheTest, WhatAWorkerTellsOfItsProgramsIsOnRecord) {
  write("run.yaml", "programs:\n  run:\n    command: [" + program("fault-worker") +
                        ", --programs, --phase, train, --fault, exit75]\n"
                        "    watch: {protocol: true}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const json::array rows = compiled();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].at("name").as_string(), "head");
  EXPECT_EQ(rows[0].at("key").as_string(), "aa11");
  EXPECT_EQ(rows[0].at("hit").as_int64(), 0);
  EXPECT_EQ(rows[0].at("ms").as_int64(), 40);
  EXPECT_EQ(rows[2].at("attempt").as_int64(), 2);
  EXPECT_EQ(rows[2].at("hit").as_int64(), 1);
  EXPECT_EQ(rows[3].at("dropped").as_string(), "its bytes do not match their checksum");
  const json::value status = document({"status"});
  EXPECT_EQ(status.at(0).at("cache_hits").as_int64(), 1);
  EXPECT_EQ(status.at(0).at("cache_misses").as_int64(), 1);
  EXPECT_EQ(document({"report", "run"}).at("cache_misses").as_int64(), 3);
  EXPECT_THAT(ctl({"report", "run"}).out, HasSubstr("3 compiled, 1 from the cache"));
  EXPECT_THAT(ctl({"why", "run", "1"}).out, HasSubstr("programs 2 compiled, 0 from the cache"));
  const std::string dropped = "the cached program embed was dropped: its bytes do not match";
  EXPECT_THAT(ctl({"events", "run"}).out, HasSubstr(dropped));

  // The journals still know it when the database is gone.
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::remove(database().string() + part);
  }
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << "it had finished";
  EXPECT_EQ(compiled(), rows);
  EXPECT_THAT(ctl({"events", "run"}).out, HasSubstr(dropped));
}

// A worker that writes down what it finds, leaves something in both caches, and fails: first with
// nothing to do with them, then with kernels that cannot be read.
constexpr const char* script = R"sh(
mkdir -p "$TT_METAL_CACHE" "$TRAINWARD_PROGRAM_CACHE"
echo "$TRAINWARD_ATTEMPT kernels: $(ls "$TT_METAL_CACHE" | tr '\n' ' ')" >> found.txt
echo "$TRAINWARD_ATTEMPT programs: $(ls "$TRAINWARD_PROGRAM_CACHE" | tr '\n' ' ')" >> found.txt
printf '%s' "$TT_METAL_CACHE" > kernels.txt
printf '%s' "$TRAINWARD_SIMULATE" > simulate.json
printf '%s' "$TRAINWARD_PLAN" > plan.json
touch "$TT_METAL_CACHE/k$TRAINWARD_ATTEMPT" "$TRAINWARD_PROGRAM_CACHE/p$TRAINWARD_ATTEMPT"
case $TRAINWARD_ATTEMPT in
  1) exit 75 ;;
  2) echo "Cannot read file: /c/tt-metal-cache/81/kernels/reader/5/brisc.elf" >&2; exit 1 ;;
esac
)sh";

TEST_F(ProgramCacheTest, KernelsAreKeptPerBoardAndPurgedWhenTheyAreDamaged) {
  write("worker.sh", script);
  write("host.yaml", "boards:\n" + healthy_board("{dram_bytes: 1000, oom: error_13}"));
  write("run.yaml",
        "programs:\n  run:\n    command: [sh, worker.sh]\n    board: {host: host.yaml}\n"
        "    backoff: {first: 10ms}\n    checkpoints: {on_stop: false}\n");
  // Another board's, which nobody may touch.
  const std::string caches = ".trainward/cache/tt-metal/";
  write(caches + "0100014511700000/kernel", "of another board");
  const Output ended = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto all = attempts();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].cause, "cache_corrupt") << all[1].verdict;
  EXPECT_EQ(all[1].remedy, "purge_caches");
  EXPECT_EQ(read_file(path("kernels.txt"), 1 << 12).value(),
            std::filesystem::canonical(path(caches + serial)).string());
  EXPECT_EQ(read_file(path("found.txt"), 1 << 12).value(),
            "1 kernels: \n1 programs: \n"
            "2 kernels: k1 \n2 programs: p1 \n"
            "3 kernels: \n3 programs: \n");
  EXPECT_TRUE(std::filesystem::exists(path(caches + "0100014511700000/kernel")));
}

TEST_F(ProgramCacheTest, TheScriptOfADescribedBoardIsNotInThePlan) {
  write("worker.sh", script);
  write("host.yaml", "boards:\n" + healthy_board("{dram_bytes: 1000, oom: error_13}"));
  write("run.yaml",
        "programs:\n  run:\n    command: [sh, worker.sh]\n    board: {host: host.yaml}\n"
        "    backoff: {first: 10ms}\n    checkpoints: {on_stop: false}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  EXPECT_EQ(read_file(path("simulate.json"), 1 << 12).value(),
            R"({"dram_bytes":1000,"oom":"error_13"})");
  const json::value plan =
      parse_json(read_file(path("plan.json"), 1 << 12).value(), "plan").value();
  EXPECT_EQ(plan.at("board").at("serial").as_string(), serial);
  EXPECT_FALSE(plan.at("board").as_object().contains("simulate"));
}

TEST_F(ProgramCacheTest, ABoardWithoutAScriptHasNoVariableForIt) {
  write("worker.sh", "env > environment.txt\n");
  write("host.yaml", "boards:\n" + healthy_board("{}"));
  write("run.yaml",
        "programs:\n  run:\n    command: [sh, worker.sh]\n    board: {host: host.yaml}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const std::string environment = read_file(path("environment.txt"), 1 << 20).value();
  EXPECT_THAT(environment, HasSubstr("TT_METAL_CACHE="));
  EXPECT_THAT(environment, ::testing::Not(HasSubstr("TRAINWARD_SIMULATE")));
}

}  // namespace
}  // namespace trainward::e2e
