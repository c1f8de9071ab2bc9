// The examples' meshes, on the simulated card of the hosts that they describe.
#include <gmock/gmock.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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

// Two rows with sequences of their own, whose four chips share one copy; then one row of two chips.
TEST_F(Meshes, ChipsOfARowMayShareTheWeights) {
  const auto trains = [this](const std::string& steps, const std::string& mesh, bool divided) {
    std::vector<std::string> settings{"training_config.model=nano_1x",
                                      "training_config.steps=" + steps,
                                      "device_config.mesh_shape=" + mesh};
    if (divided) settings.emplace_back("device_config.enable_tp=true");
    EXPECT_EQ(end_of(start_daemon(example("t3k", settings))), 0) << daemon_log();
  };
  trains("50", "[1, 1]", false);
  const std::string loss = loss_after("50");
  forget();
  trains("20", "[2, 4]", true);
  trains("50", "[1, 2]", true);
  EXPECT_EQ(loss_after("50"), loss);
  EXPECT_THAT(causes("t3k"), ElementsAre("done", "done"));
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
  EXPECT_THAT(events, ContainsRegex("straggler +0100014511728a24/R is slow and the others "
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
  EXPECT_THAT(ctl({"report", "t3k"}).out, HasSubstr("0100014511728a24/R"));
}

TEST_F(Meshes, AChipThatOnlyThePluginMissesIsLostAndNoMistakeOfTheConfiguration) {
  write("host.yaml", "boards:\n" + healthy_board("{dead_second_chip: true}"));
  write_training("run.yaml", 30,
                 ", plugin: sim_n300, host: host.yaml, mesh_shape: [1, 2], enable_ddp: true");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return !attempts().empty() && !attempts().front().cause.empty(); });
  EXPECT_EQ(attempts().front().cause, "device_lost") << daemon_log();
  EXPECT_NE(state(), "FATAL");
  ask_to_end(daemon);
  end_of(daemon);
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
    const pid_t daemon = start_daemon(example("t3k", {host(file), "board.min_chips=8"}));
    wait_until([&] { return daemon_log().find("no place to run") != std::string::npos; });
    EXPECT_THAT(daemon_log(), HasSubstr(words));
    ask_to_end(daemon);
    end_of(daemon);
    forget();
  }
}

// ---- smaller meshes, and back ----

TEST_F(Meshes, WithABoardThatIsDeadOrACableThatIsDownTheRestTrainsTheSameCurve) {
  ASSERT_EQ(end_of(start_daemon(example("t3k"))), 0) << daemon_log();
  const std::string undisturbed = loss_after("50");
  EXPECT_NE(undisturbed, "");
  const std::pair<const char*, const char*> faults[] = {
      {"t3k-dead-link.yaml", "the links from 0100014511728a10/L:6,7 (QSFP 1)"},
      {"t3k-dead-chip.yaml", "board 0100014511728a4c is ARC_DEAD (chip R)"}};
  for (const auto& [file, words] : faults) {
    forget();
    ASSERT_EQ(end_of(start_daemon(example("t3k", {host(file)}))), 0) << daemon_log();
    EXPECT_THAT(causes("t3k"), ElementsAre("done"));
    EXPECT_THAT(daemon_log(), HasSubstr("on a mesh of 2x2 instead of 2x4, where a step takes about "
                                        "2 times as long"));
    EXPECT_THAT(daemon_log(), HasSubstr(std::string("a mesh of 2x4 cannot be placed: ") + words));
    EXPECT_EQ(loss_after("50"), undisturbed);
  }
}

TEST_F(Meshes, ABoardThatComesBackIsUsedAgainAndNothingIsLost) {
  const std::string steps = "training_config.steps=400";
  ASSERT_EQ(end_of(start_daemon(example("t3k", {steps}))), 0) << daemon_log();
  const std::string undisturbed = loss_after("375");
  EXPECT_NE(undisturbed, "");
  forget();
  std::filesystem::copy(SOURCE_FOLDER "/examples/hosts/t3k.yaml", path("t3k.yaml"));
  write("host.yaml",
        "like: t3k.yaml\nboards:\n  - serial: \"0100014511728a4c\"\n    chips: [{id: R, "
        "heartbeat: frozen}]\n");
  const pid_t daemon =
      start_daemon(example("t3k", {steps, "device_config.host=" + path("host.yaml").string(),
                                   "board.grow_after=200ms"}));
  wait_until([&] {
    const auto all = attempts("t3k");
    return !all.empty() && all.back().last_step > 60;
  });
  EXPECT_THAT(ctl({"status"}).out, HasSubstr("smaller mesh 2x2 of 2x4"));
  write("mended.yaml", "like: t3k.yaml\nboards: []\n");
  std::filesystem::rename(path("mended.yaml"), path("host.yaml"));
  ASSERT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_THAT(causes("t3k"), ElementsAre("larger_mesh", "done"));
  const std::vector<store::AttemptRow> both = attempts("t3k");
  EXPECT_EQ(both.at(1).resume_step, both.at(0).last_step);
  EXPECT_EQ(both.at(1).first_step, both.at(0).last_step + 1);
  EXPECT_THAT(daemon_log(), HasSubstr("the full mesh of 2x4 is there again"));
  EXPECT_EQ(loss_after("375"), undisturbed);
}

// Two faults are enough for quarantine, and whose this one was only the look afterwards shows.
TEST_F(Meshes, WhenABoardDiesTheOthersGoOnAndAreNotBlamed) {
  std::filesystem::copy(SOURCE_FOLDER "/examples/hosts/t3k.yaml", path("t3k.yaml"));
  write("host.yaml",
        "like: t3k.yaml\nboards:\n  - serial: \"0100014511728a4c\"\n    simulate: "
        "{ethernet_loss: {attempt: 1, after_steps: 150}}\n");
  const pid_t daemon =
      start_daemon(example("t3k", {"training_config.steps=200", "quarantine.faults=2",
                                   "device_config.host=" + path("host.yaml").string()}));
  wait_until([&] { return !attempts("t3k").empty() && attempts("t3k").back().last_step > 0; });
  write("dead.yaml",
        "like: t3k.yaml\nboards:\n  - serial: \"0100014511728a4c\"\n    chips: [{id: R, "
        "heartbeat: frozen}]\n");
  std::filesystem::rename(path("dead.yaml"), path("host.yaml"));
  ASSERT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_THAT(causes("t3k"), ElementsAre("ethernet", "done"));
  EXPECT_THAT(daemon_log(), ContainsRegex("cleared of the newest fault, as others are broken: "
                                          "(0100014511728a(10|24|37)(, )?){3}\n"));
  EXPECT_THAT(daemon_log(), Not(HasSubstr("no place to run")));
  EXPECT_THAT(daemon_log(), HasSubstr("on a mesh of 2x2 instead of 2x4"));
}

TEST_F(Meshes, AfterAResetTheBoardsRestAndWhatIsStillBrokenIsDoneWithout) {
  ASSERT_EQ(end_of(start_daemon(
                example("t3k", {host("t3k-dead-chip.yaml"), "reset_command=[/bin/true]",
                                "board.rest_after_reset=50ms", "deadlines.settle=100ms"}))),
            0)
      << daemon_log();
  EXPECT_THAT(daemon_log(),
              ContainsRegex("leaving the boards of the mesh alone for 50 ms after their reset"
                            ".*\n.*board 0100014511728a4c could not be reset"
                            "(.*\n)+.*on a mesh of 2x2 instead of 2x4"));
}

// Of each of these cables one of two lanes is up.
TEST_F(Meshes, LinksThatAreMissingSinceTheFirstStartAreNamedAndTooManyAreDoneWithout) {
  const std::vector<std::pair<std::string, std::string>> cables{
      {"L:14-15", "0100014511728a24/L:14-15"},
      {"L:0-1", "0100014511728a4c/L:0-1"},
      {"L:6-7", "0100014511728a37/L:6-7"}};
  std::string text = read_file(SOURCE_FOLDER "/examples/hosts/t3k.yaml", 1 << 16).value();
  const auto lose_a_lane = [&](const auto& cable) {
    const std::string whole = "{from: \"" + cable.first + "\", to: \"" + cable.second + "\"}";
    const auto one = [](const std::string& range, bool last) {
      const std::size_t number = range.rfind(':') + 1;
      const std::size_t dash = range.rfind('-');
      return range.substr(0, number) +
             (last ? range.substr(dash + 1) : range.substr(number, dash - number));
    };
    const auto lane = [&](bool last) {
      return "{from: \"" + one(cable.first, last) + "\", to: \"" + one(cable.second, last) +
             "\", up: " + (last ? "false" : "true") + "}";
    };
    const std::size_t at = text.find(whole);
    ASSERT_NE(at, std::string::npos) << whole;
    text.replace(at, whole.size(), lane(false) + "\n      - " + lane(true));
    write("host.yaml", text);
  };
  const auto train = [&](const std::string& steps) {
    return end_of(
        start_daemon(example("t3k", {"training_config.steps=" + steps,
                                     "device_config.host=" + path("host.yaml").string()})));
  };
  write("host.yaml", text);
  ASSERT_EQ(train("20"), 0) << daemon_log();
  lose_a_lane(cables[0]);
  ASSERT_EQ(train("40"), 0) << daemon_log();
  const std::string lost =
      "its mesh of 2x4 has 19 of the 20 links that it had when it was first trained on; missing "
      "among "
      "0100014511728a10/L:14,15 (WARP100 1) to 0100014511728a24/L:14,15 (WARP100 1)";
  EXPECT_THAT(ctl({"events", "t3k"}).out, HasSubstr(lost));
  EXPECT_THAT(ctl({"events", "t3k"}).out, Not(HasSubstr("2x2")));
  lose_a_lane(cables[1]);
  lose_a_lane(cables[2]);
  ASSERT_EQ(train("60"), 0) << daemon_log();
  EXPECT_THAT(ctl({"events", "t3k"}).out, HasSubstr("its mesh of 2x4 has 17 of the 20 links"));
  EXPECT_THAT(ctl({"events", "t3k"}).out, HasSubstr("on a mesh of 2x2 instead of 2x4"));
  EXPECT_THAT(causes("t3k"), ElementsAre("done", "done", "done"));
}

}  // namespace
}  // namespace trainward::e2e
