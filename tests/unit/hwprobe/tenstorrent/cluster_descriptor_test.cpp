#include "hwprobe/tenstorrent/look/cluster_descriptor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwprobe/topology/topology_graph.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two N300, R cabled to R, chips numbered as they were found.
constexpr std::string_view two_boards = R"(arch: {0: wormhole_b0, 1: wormhole_b0, 2: x, 3: x}
chips: {0: [0, 0, 0, 0], 1: [1, 0, 0, 0]}
ethernet_connections:
  - [{chip: 0, chan: 8}, {chip: 2, chan: 0}]
  - [{chip: 1, chan: 8}, {chip: 3, chan: 0}]
  - - chip: 2
      chan: 6
    - chip: 3
      chan: 7
    - {routing_enabled: true}
ethernet_connections_to_remote_devices:
  - [{chip: 0, chan: 0}, {remote_chip_id: 77, chan: 1}]
chips_with_mmio: [0: 0, 1: 1]
boards:
  - [{board_id: 17}, {board_type: n300}, {chips: [0, 2]}]
  - {board_id: 18, board_type: n300, chips: [3, 1]}
chip_pci_bdfs: {0: "0000:41:00.0", 1: 0000:c1:00.0}
something_new: [[[1]]]
)";

std::string error(std::string_view text) {
  const auto descriptor = read_cluster_descriptor(text, "file");
  return descriptor ? "" : descriptor.error().message();
}

TEST(ClusterDescriptors, NameBoardsChipsAndLinks) {
  const auto descriptor = read_cluster_descriptor(two_boards, "sample");
  ASSERT_TRUE(descriptor) << descriptor.error().message();
  const Expected& expected = descriptor->expected;
  ASSERT_EQ(expected.boards.size(), 2U);
  EXPECT_EQ(expected.boards[0].serial, "0000000000000011");
  EXPECT_EQ(expected.boards[0].type, "n300");
  EXPECT_EQ(expected.boards[0].bus_id, "0000:41:00.0");
  EXPECT_THAT(expected.boards[1].chips, ElementsAre("L", "R"));
  EXPECT_EQ(expected.boards[1].bus_id, "0000:c1:00.0");
  ASSERT_EQ(expected.links.size(), 3U);
  EXPECT_EQ(expected.links[0].from, "0000000000000011/L:8");
  EXPECT_EQ(expected.links[0].to, "0000000000000011/R:0");
  EXPECT_EQ(expected.links[2].from, "0000000000000011/R:6");
  EXPECT_EQ(expected.links[2].to, "0000000000000012/R:7");
  EXPECT_EQ(descriptor->links_to_other_hosts, 1U);
}

TEST(ClusterDescriptors, LargerBoardsCallChipsByTheirPlace) {
  const auto descriptor = read_cluster_descriptor(
      "boards: [{board_id: 1, chips: [4, 5, 6]}, {board_id: 2, chips: [9]}]\n"
      "asic_locations: {4: 2, 5: 0, 6: 1}\n",
      "sample");
  ASSERT_TRUE(descriptor) << descriptor.error().message();
  EXPECT_THAT(descriptor->expected.boards[0].chips, ElementsAre("0", "1", "2"));
  EXPECT_THAT(descriptor->expected.boards[1].chips, ElementsAre("L"));
}

TEST(ClusterDescriptors, RefuseWithThePlace) {
  EXPECT_THAT(error(""), HasSubstr("'boards' is missing"));
  EXPECT_THAT(error("- 5"), HasSubstr("'boards' is missing"));
  EXPECT_THAT(error("boards: 5"), HasSubstr("file:1:9: boards: expected a list"));
  EXPECT_THAT(error("boards: [5]"), HasSubstr("file:1:10: boards: expected board_id"));
  EXPECT_THAT(error("boards: [{board_id: x, chips: [0]}]"),
              HasSubstr("file:1:21: board_id: expected a number"));
  EXPECT_THAT(error("boards: [{board_id: 1, chips: [0, 0]}]"), HasSubstr("listed twice"));
  EXPECT_THAT(error("boards: [{board_id: 1, chips: [0, 1]}]"), HasSubstr("listed twice"))
      << "two chips R";
  constexpr std::string_view board = "boards: [{board_id: 1, chips: [0]}]\nethernet_connections: ";
  EXPECT_THAT(error(std::string(board) + "[5]"), HasSubstr("file:2:24: ethernet_connections"));
  EXPECT_THAT(error(std::string(board) + "[[{chip: 0, chan: 1}, {chip: 7, chan: 1}]]"),
              HasSubstr("chip 7 is on none of the boards"));
  EXPECT_THAT(error(std::string(board) + "[[{chip: 0}, {chip: 0, chan: 1}]]"),
              HasSubstr("expected {chip, chan}"));
  EXPECT_THAT(error("boards: &a [*a]"), HasSubstr("file:1:"));
  EXPECT_THAT(error(std::string(max_descriptor_bytes + 1, ' ')), HasSubstr("file:"));
}

TEST(ClusterDescriptors, BoundTheirCounts) {
  std::string text = "boards:\n";
  for (int i = 0; i < 65; ++i) text += "  - {board_id: 1, chips: []}\n";
  EXPECT_THAT(error(text), HasSubstr("at most 64"));
  text = "boards: [{board_id: 1, chips: [0]}]\nethernet_connections:\n";
  for (int i = 0; i < 513; ++i) text += "  - [{chip: 0, chan: 1}, {chip: 0, chan: 2}]\n";
  EXPECT_THAT(error(text), HasSubstr("more than 512"));
}

// In the long form that tools write, chip 1 being L: a serial of 57 bits stands in decimal.
TEST(ClusterDescriptors, OfACardWhoseSecondChipIsL) {
  const auto card = read_cluster_descriptor(R"(arch:
  0: wormhole_b0
  1: wormhole_b0
chips:
  0:
    - 0
    - 1
    - 0
    - 0
  1:
    - 0
    - 0
    - 0
    - 0
chip_unique_ids:
  0: 14251245764
  1: 9956278468
ethernet_connections:
  -
    - chip: 1
      chan: 8
    - chip: 0
      chan: 0
  -
    - chip: 1
      chan: 9
    - chip: 0
      chan: 1
ethernet_connections_to_remote_devices:
  []
chips_with_mmio:
  - 1: 1
io_device_type: PCIe
harvesting:
  0:
    noc_translation: true
    harvest_mask: 513
boards:
  -
    - board_id: 72058990194901188
    - board_type: n300
    - chips:
        - 0
        - 1
asic_locations:
  0: 1
  1: 0
chip_pci_bdfs:
  1: 0000:41:00.0
)",
                                            "card");
  ASSERT_TRUE(card) << card.error().message();
  ASSERT_EQ(card->expected.boards.size(), 1U);
  EXPECT_EQ(card->expected.boards[0].serial, "010001451170c0c4");
  EXPECT_EQ(card->expected.boards[0].bus_id, "0000:41:00.0");
  EXPECT_THAT(card->expected.boards[0].chips, ElementsAre("L", "R"));
  ASSERT_EQ(card->expected.links.size(), 2U);
  EXPECT_EQ(card->expected.links[1].to, "010001451170c0c4/R:1");
}

}  // namespace
}  // namespace trainward::hwprobe
