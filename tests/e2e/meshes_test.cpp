// The examples' meshes, on the simulated card of the hosts that they describe.
#include <gmock/gmock.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Meshes : public World {
 protected:
  std::vector<std::string> example(const std::string& name,
                                   const std::vector<std::string>& settings = {}) {
    std::vector<std::string> arguments{"--once"};
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"--set", "programs." + name + "." + setting});
    }
    arguments.push_back(SOURCE_FOLDER "/examples/" + name + ".yaml");
    return arguments;
  }
  static std::string host(const std::string& file) {
    return "device_config.host=" SOURCE_FOLDER "/examples/hosts/" + file;
  }
  void forget() {
    std::filesystem::remove_all(path(".trainward"));
    std::filesystem::remove(path("daemon.log"));
  }
  // Of the last attempt's newest lines with a loss.
  std::string loss_after(const std::string& step) {
    const std::string log = daemon_log();
    const std::size_t at = log.rfind("step " + step + "/");
    const std::size_t loss = log.find("loss ", at);
    return at == std::string::npos || loss == std::string::npos ? "" : log.substr(loss, 10);
  }
  std::vector<std::string> causes(const std::string& name) {
    std::vector<std::string> all;
    for (const store::AttemptRow& attempt : attempts(name)) all.push_back(attempt.cause);
    return all;
  }
  std::string digest_of(const std::string& name) {
    return ctl({"ckpt", "digest", ".trainward/runs/" + name + "/checkpoints"}).out;
  }
};

TEST_F(Meshes, TheEightChipsOfAT3kTrainAsOneDoes) {
  ASSERT_EQ(end_of(start_daemon(example("t3k"))), 0) << daemon_log();
  EXPECT_THAT(daemon_log(), HasSubstr("0100014511728a37, 0100014511728a24, 0100014511728a4c"));
  const std::string loss = loss_after("50");
  EXPECT_NE(loss, "");
  forget();
  ASSERT_EQ(end_of(start_daemon(example("t3k", {"device_config.mesh_shape=[1, 1]"}))), 0);
  EXPECT_EQ(loss_after("50"), loss);
}

TEST_F(Meshes, AGalaxyHas32Chips) {
  EXPECT_EQ(end_of(start_daemon(example("galaxy"))), 0) << daemon_log();
  EXPECT_THAT(causes("galaxy"), ElementsAre("done"));
}

TEST_F(Meshes, ARunMayResumeOnAnotherMesh) {
  ASSERT_EQ(end_of(start_daemon(example("t3k", {"training_config.steps=20"}))), 0);
  ASSERT_EQ(end_of(start_daemon(
                example("t3k", {"training_config.steps=40", "device_config.mesh_shape=[1, 2]"}))),
            0)
      << daemon_log();
  EXPECT_EQ(attempts("t3k").back().last_step, 40);
}

TEST_F(Meshes, AFlippedBitIsNamedAndNotTrainedOn) {
  ASSERT_EQ(end_of(start_daemon(example("t3k"))), 0) << daemon_log();
  const std::string undisturbed = digest_of("t3k");
  forget();
  ASSERT_EQ(end_of(start_daemon(example("t3k", {host("t3k-flipped-bit.yaml")}))), 0)
      << daemon_log();
  EXPECT_THAT(causes("t3k"), ElementsAre("corruption", "done"));
  EXPECT_THAT(daemon_log(), HasSubstr("the parameters on device 3 (0100014511728a37/R) are not "
                                      "those of the other 7 after step 30"));
  EXPECT_EQ(digest_of("t3k"), undisturbed);
}

// The exponent's highest bit: the next loss is no number, before anything was compared.
TEST_F(Meshes, AFlippedBitBehindALossThatIsNoNumberIsNamed) {
  write("host.yaml",
        "like: t3k.yaml\nboards:\n  - serial: \"0100014511728a37\"\n    simulate: "
        "{flip: {attempt: 1, after_steps: 13, chip: R, bit: 30}}\n");
  std::filesystem::copy(SOURCE_FOLDER "/examples/hosts/t3k.yaml", path("t3k.yaml"));
  ASSERT_EQ(
      end_of(start_daemon(example("t3k", {"device_config.host=" + path("host.yaml").string()}))), 0)
      << daemon_log();
  EXPECT_THAT(causes("t3k"), ElementsAre("corruption", "done"));
  EXPECT_THAT(daemon_log(), HasSubstr("device 3 (0100014511728a37/R)"));
}

TEST_F(Meshes, OfTwoChipsTheNextAttemptNamesTheOneWithTheFlippedBit) {
  write("host.yaml",
        "boards:\n" + healthy_board("{flip: {attempt: 1, after_steps: 14, chip: L, bit: 77}}"));
  write_training("run.yaml", 30,
                 ", plugin: sim_n300, host: host.yaml, mesh_shape: [1, 2], enable_ddp: true, "
                 "checksum_every: 5");
  ASSERT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
  EXPECT_THAT(causes("run"), ElementsAre("corruption", "done"));
  EXPECT_THAT(
      ctl({"events", "run"}).out,
      ContainsRegex(" was wrong at step 15: repeated, the steps since 1[0-4] give what the others"))
      << "all agreed at a checksum's step, or where a save came between";
}

TEST_F(Meshes, ASlowChipIsNamedAndOnlyThat) {
  ASSERT_EQ(end_of(start_daemon(example("t3k", {host("t3k-slow-chip.yaml")}))), 0) << daemon_log();
  const std::string events = ctl({"events", "t3k"}).out;
  EXPECT_THAT(events,
              ContainsRegex("straggler +device 4 \\(0100014511728a24/R\\) is slow and the others "
                            "wait for it: up to step [0-9]+ it computed"))
      << daemon_log();
  EXPECT_EQ(events.find("straggler"), events.rfind("straggler")) << events;
  const auto devices =
      json::parse(ctl({"--json", "status", "t3k"}).out).at(0).at("devices").as_array();
  ASSERT_EQ(devices.size(), 8U);
  EXPECT_GT(devices[4].at("compute_ms").to_number<double>(),
            2 * devices[3].at("compute_ms").to_number<double>());
  EXPECT_LT(devices[4].at("collective_share").to_number<double>(),
            devices[3].at("collective_share").to_number<double>())
      << "it waits least";
  EXPECT_THAT(ctl({"report", "t3k"}).out, HasSubstr("device 4 (0100014511728a24/R)"));
}

TEST_F(Meshes, AWrongScriptIsRefusedAndNoBoardIsBlamed) {
  write("host.yaml", "boards:\n" + healthy_board("{slow_chip: {chip: R, times: 3}}"));
  write_training("run.yaml", 30,
                 ", plugin: sim_n300, host: host.yaml, mesh_shape: [1, 2], enable_ddp: true");
  EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 78) << daemon_log();
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_THAT(daemon_log(), HasSubstr("TRAINWARD_SIMULATE.slow_chip"));
}

TEST_F(Meshes, ADeadLinkAndADeadChipAreNamed) {
  const std::pair<const char*, const char*> faults[] = {
      {"t3k-dead-link.yaml", "the links from 0100014511728a10/L:6,7 (QSFP 1)"},
      {"t3k-dead-chip.yaml", "board 0100014511728a4c is ARC_DEAD (chip R)"}};
  for (const auto& [file, words] : faults) {
    const pid_t daemon = start_daemon(example("t3k", {host(file)}));
    wait_until([&] { return daemon_log().find("no place to run") != std::string::npos; });
    EXPECT_THAT(daemon_log(), HasSubstr(words));
    ask_to_end(daemon);
    end_of(daemon);
    forget();
  }
}

}  // namespace
}  // namespace trainward::e2e
