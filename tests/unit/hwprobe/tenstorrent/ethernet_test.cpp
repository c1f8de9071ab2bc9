// The on-board links as chip L's Ethernet cores have them.
#include "hwprobe/tenstorrent/decode/ethernet.hpp"

#include <gmock/gmock.h>

#include "fake_card.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace at = wormhole::ethernet;

LinkJudgement look_at_8(FakeCard& card) {
  const EthernetLook look = look_at_ethernet(card, wormhole::on_board_channels);
  EXPECT_EQ(look.channels.size(), 2U);
  if (look.channels.empty()) return {};
  EXPECT_EQ(judge_on_board_link(look.channels[1], FakeCard::board_id).state, EthernetState::up);
  return judge_on_board_link(look.channels[0], FakeCard::board_id);
}

TEST(Ethernet, AHealthyLinkIsUp) {
  FakeCard card;
  const LinkJudgement link = look_at_8(card);
  EXPECT_EQ(link.state, EthernetState::up);
  EXPECT_EQ(link.why, "");
  ASSERT_EQ(card.waits.size(), 1U);
  EXPECT_GE(card.waits[0], 100);
}

TEST(Ethernet, EveryFaultHasItsWords) {
  struct Case {
    std::uint32_t address;
    std::uint32_t word;
    EthernetState state;
    const char* why;
  };
  const std::vector<Case> cases{
      {at::soft_reset, 0x800, EthernetState::down, "held in reset"},
      {at::heartbeat, 0x12340001, EthernetState::down, "no known firmware, heartbeat 0x12340001"},
      {at::port_disable_mask, 1U << 8, EthernetState::down, "port is disabled"},
      {at::train_status, 0, EthernetState::training, "still training"},
      {at::retrain_request, 1, EthernetState::training, "still training"},
      {at::train_status, 2, EthernetState::down, "training failed"},
      {at::train_status, 3, EthernetState::down, "training failed"},
      {at::routing_off, 1, EthernetState::down, "routing firmware is off"},
      {at::remote_board_low, 0x51700000, EthernetState::down, "not chip R of this board"},
      {at::remote_board_high, 2, EthernetState::down, "not chip R of this board"},
      {at::remote_channel, 7, EthernetState::down, "not chip R of this board"},
      {at::firmware, 0x69000, EthernetState::unknown, "too old"},
      {at::train_status, 0xFFFFFFFF, EthernetState::unknown, "could not be read"},
      // Not faults.
      {at::port_disable_mask, 1U << 3, EthernetState::up, ""},
      {at::soft_reset, 0x47000, EthernetState::up, ""},
      {at::link_status, 0, EthernetState::up, ""},
      {at::connection + 32, 0, EthernetState::up, ""},
      {at::heartbeat, 0xAABB0001, EthernetState::up, ""},
      {at::heartbeat, 0xDCBA0001, EthernetState::up, ""},
      {at::retrains, 900, EthernetState::up, ""},
  };
  for (const Case& one : cases) {
    FakeCard card;
    card.at_channel(8, one.address) = one.word;
    const LinkJudgement link = look_at_8(card);
    EXPECT_EQ(link.state, one.state) << std::hex << one.address << " " << one.word;
    EXPECT_THAT(link.why, HasSubstr(one.why));
  }
}

TEST(Ethernet, SaysWhyTrainingFailed) {
  FakeCard card;
  card.at_channel(8, at::train_status) = 2;
  card.at_channel(8, at::link_inactive) = 11;
  EXPECT_EQ(look_at_8(card).why, "training failed: no signal");
  card.at_channel(8, at::link_inactive) = 99;
  EXPECT_EQ(look_at_8(card).why, "training failed");
}

TEST(Ethernet, AFrozenHeartbeatIsDown) {
  FakeCard card;
  card.frozen_channels[8] = true;
  EXPECT_THAT(look_at_8(card).why, HasSubstr("stands still"));
}

TEST(Ethernet, WithoutABoardIdTheCoresOwnIsCompared) {
  FakeCard card;
  card.at_channel(8, at::remote_board_low) = 0x51700000;
  const EthernetLook look = look_at_ethernet(card, wormhole::on_board_channels);
  EXPECT_EQ(judge_on_board_link(look.channels[0], {}).state, EthernetState::down);
  EXPECT_EQ(judge_on_board_link(look.channels[1], {}).state, EthernetState::up);
}

TEST(Ethernet, CountersAreWide) {
  FakeCard card;
  card.at_channel(9, at::uncorrected_high) = 2;
  card.at_channel(9, at::uncorrected_low) = 5;
  const EthernetLook look = look_at_ethernet(card, wormhole::on_board_channels);
  EXPECT_EQ(look.channels[1].uncorrected, 0x200000005U);
}

TEST(Ethernet, AHungNetworkIsNotAskedForEveryWord) {
  FakeCard card;
  for (auto& [key, word] : card.noc) word = 0xFFFFFFFF;
  const EthernetLook look = look_at_ethernet(card, wormhole::on_board_channels);
  EXPECT_EQ(look.hang, Hang::noc);
  EXPECT_TRUE(look.channels.empty());
  // The first word, and the hang check up to what fails.
  EXPECT_THAT(card.reads,
              ElementsAre("noc 9 6 0x1c", "config 0x0", "bar 0x1ff5002c", "noc 0 10 0xfffb2002c"));
}

TEST(Ethernet, UnreadableCoresAreUnknown) {
  FakeCard card;
  card.on_read = [](const std::string& key) {
    return key.substr(0, 3) == "noc" ? std::string("EINVAL") : std::string();
  };
  for (const auto& core : look_at_ethernet(card, wormhole::on_board_channels).channels) {
    EXPECT_EQ(judge_on_board_link(core, FakeCard::board_id).state, EthernetState::unknown);
  }
  const std::vector<unsigned> nonsense{16, 4000000000};
  EXPECT_TRUE(look_at_ethernet(card, nonsense).channels.empty());
}

}  // namespace
}  // namespace trainward::hwprobe
