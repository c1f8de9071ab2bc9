// What a program asks of boards: how it is looked at, how many chips it needs, how it is reset.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/config/program_policy.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ConfigBoard : public ConfigTest {
 protected:
  ConfigBoard() { write("host.yaml", "boards: []\n"); }

  Program program(const std::string& text) const {
    const auto config = load_text("programs:\n  a:\n" + text);
    EXPECT_TRUE(config) << config.error().front().text();
    return config ? config->programs.at(0) : Program{};
  }
};

TEST_F(ConfigBoard, ACommandSaysWhichMeshItNeeds) {
  EXPECT_EQ(program("    command: [x]\n    board: {mesh_shape: [2, 4]}\n").mesh, (Mesh{2, 4}));
  EXPECT_FALSE(program("    command: [x]\n    board: {}\n").mesh);
  EXPECT_FALSE(program("    command: [x]\n    board: {mesh_shape: [1, 1]}\n").mesh);
  EXPECT_FALSE(
      program("    command: [x]\n    board: {mesh_shape: [2, 2], required: false}\n").mesh);
}

TEST_F(ConfigBoard, WhatIsNoMeshIsNamedAsItStandsThere) {
  const auto told = [&](const std::string& mesh) {
    const auto all =
        problems("programs:\n  a:\n    command: [x]\n    board: {mesh_shape: " + mesh + "}\n");
    return all.empty() ? "" : all.front();
  };
  EXPECT_THAT(told("[0, 2]"), HasSubstr("at most 32 chips, such as [2, 2]; found [0, 2]"));
  EXPECT_THAT(told("[64, 1]"), HasSubstr("found [64, 1]"));
  EXPECT_THAT(told("[2]"), HasSubstr("found [2]"));
  EXPECT_THAT(told("4"), HasSubstr("found the number 4"));
}

TEST_F(ConfigBoard, OurWorkerNeedsAsManyChipsAsItDrivesDevices) {
  const std::string two = "    device_config: {mesh_shape: [1, 2], enable_ddp: true, ";
  EXPECT_EQ(program(two + "plugin: sim_n300, host: host.yaml}\n").mesh, (Mesh{1, 2}));
  EXPECT_FALSE(program(two + "plugin: sim_n300}\n").mesh) << "it needs no board";
  EXPECT_EQ(program(two + "plugin: sim_n300}\n    board: {}\n").mesh, (Mesh{1, 2}));
  EXPECT_FALSE(program(two + "host: host.yaml}\n").mesh) << "processes, not devices";
  EXPECT_FALSE(program(two + "plugin: sim_n300, device: cpu, host: host.yaml}\n").mesh);
  EXPECT_FALSE(program("    device_config: {plugin: sim_n300, host: host.yaml}\n").mesh);
  const std::string four =
      "    device_config: {mesh_shape: [1, 4], enable_ddp: true, plugin: sim_n300}\n";
  EXPECT_EQ(program(four + "    board: {mesh_shape: [2, 2]}\n").mesh, (Mesh{2, 2}));
  EXPECT_THAT(
      problems("programs:\n  a:\n" + four + "    board: {mesh_shape: [1, 2]}\n"),
      ElementsAre(HasSubstr("is 1 x 2, and device_config.mesh_shape is 1 x 4; leave it out")));
  const std::string square =
      "    device_config: {mesh_shape: [2, 4], enable_ddp: true, plugin: sim_n300, host: "
      "host.yaml}\n"
      "    training_config: {batch_size: 8}\n";
  EXPECT_EQ(program(square).mesh, (Mesh{2, 4}));
  EXPECT_EQ(program(square + "    board: {mesh_shape: [2, 4]}\n").mesh, (Mesh{2, 4}));
  EXPECT_THAT(
      problems("programs:\n  a:\n" + square + "    board: {mesh_shape: [4, 2]}\n"),
      ElementsAre(HasSubstr("is 4 x 2, and device_config.mesh_shape is 2 x 4; leave it out")));
}

TEST_F(ConfigBoard, HowASmallerMeshIsAllowed) {
  const std::string own =
      "    device_config: {mesh_shape: [2, 4], enable_ddp: true, plugin: sim_n300}\n"
      "    training_config: {batch_size: 8}\n    board: ";
  const Program usual = program(own + "{}\n");
  EXPECT_EQ(usual.min_chips, 1);
  EXPECT_EQ(policy_of(usual).grow_after_ms, 600'000);
  EXPECT_FALSE(to_json(usual).contains("min_chips")) << "as it was in earlier versions";
  const Program strict = program(own + "{min_chips: 8, grow_after: 1h}\n");
  EXPECT_EQ(strict.min_chips, 8);
  EXPECT_EQ(policy_of(strict).grow_after_ms, 3'600'000);
  EXPECT_NE(strict.digest, usual.digest);
  EXPECT_THAT(problems("programs:\n  a: {command: [x], board: {min_chips: 2}}\n"),
              ElementsAre(HasSubstr("min_chips")));
  EXPECT_THAT(problems("programs:\n  a:\n" + own + "{min_chips: 33}\n"), SizeIs(1));
}

TEST_F(ConfigBoard, BoardsOfAMeshRestAfterAReset) {
  const std::string own = "    device_config: {plugin: sim_n300, host: host.yaml}\n";
  EXPECT_EQ(program("    command: [x]\n    board: {mesh_shape: [2, 2]}\n").rest_ms, 30'000);
  EXPECT_EQ(program("    command: [x]\n    board: {host: host.yaml}\n").rest_ms, 0);
  EXPECT_EQ(program(own).rest_ms, 0) << "a described host";
  EXPECT_EQ(program(own + "    board: {}\n").rest_ms, 0);
  EXPECT_EQ(program("    command: [x]\n    board: {rest_after_reset: 1min}\n").rest_ms, 60'000);
}

TEST_F(ConfigBoard, MeshesThatCannotBeAreRefused) {
  for (const char* mesh : {"[0, 1]", "[1]", "[1, 2, 3]", "[8, 8]", "[33, 1]", "2x2", "[a, b]", "[]",
                           "[-1, -1]", "[9223372036854775807, 2]"}) {
    EXPECT_THAT(problems(std::string("programs:\n  a: {command: [x], board: {mesh_shape: ") + mesh +
                         "}}\n"),
                ElementsAre(HasSubstr("expected [rows, columns] of at most 32 chips")))
        << mesh;
  }
}

TEST_F(ConfigBoard, AProbeCommandIsWordsWithoutNames) {
  const Program p =
      program("    command: [x, '{serial}']\n    board: {}\n    probe_command: [look, --json]\n");
  ASSERT_THAT(p.probe_command, SizeIs(2));
  EXPECT_EQ(p.probe_command[1].fill({}).text, "--json");
  EXPECT_THAT(wrong("command: [x]\n    board: {}\n    probe_command: [x, '{bus_id}']"),
              ElementsAre(HasSubstr("unknown name '{bus_id}'; nothing is filled in here")));
  EXPECT_THAT(wrong("command: [x]\n    board: {}\n    probe_command: []"),
              ElementsAre(HasSubstr("expected a list such as")));
  EXPECT_THAT(wrong("command: [x]\n    board: {}\n    probe_command: ['']"),
              ElementsAre(HasSubstr("expected a program to run")));
}

TEST_F(ConfigBoard, AProbeCommandThatNobodyWouldRunIsRefused) {
  EXPECT_THAT(wrong("command: [x]\n    probe_command: [look]"),
              ElementsAre(HasSubstr("goes with 'board'")));
  EXPECT_THAT(wrong("command: [x]\n    board: {host: host.yaml}\n    probe_command: [look]"),
              ElementsAre(HasSubstr("a described one is given instead")));
}

TEST_F(ConfigBoard, BoardsHaveThreeMinutesToComeBack) {
  EXPECT_EQ(program("    command: [x]\n").settle_ms, 180'000);
  EXPECT_EQ(program("    command: [x]\n    deadlines: {settle: 20s}\n").settle_ms, 20'000);
  EXPECT_THAT(wrong("deadlines: {settle: 20}"), ElementsAre(HasSubstr("expected a duration")));
}

}  // namespace
}  // namespace trainward::config
