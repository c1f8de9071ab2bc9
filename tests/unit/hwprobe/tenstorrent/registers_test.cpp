// Lines, recordings and their replay, and what may be read at all.
#include <gmock/gmock.h>

#include <random>

#include "fake_card.hpp"
#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/ethernet.hpp"
#include "hwprobe/tenstorrent/registers/allowed.hpp"
#include "hwprobe/tenstorrent/registers/register_recording.hpp"
#include "read_lines.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

TEST(RegisterKeys, WordsHaveOneForm) {
  EXPECT_EQ(parse_word("0xffffffff"), 0xFFFFFFFFU);
  EXPECT_EQ(parse_word("0x0"), 0U);
  for (const char* text : {"", "0x", "5", "0x100000000", "0x-1", "0x1 ", "0xg", "-0x1"}) {
    EXPECT_FALSE(parse_word(text)) << text;
  }
}

TEST(DriverInfoText, ComesBack) {
  DriverInfo info = FakeCard().info;
  EXPECT_EQ(to_text(info), "2.10.1 api 2 device 1e52:401e at 0000:c1:00.0");
  EXPECT_EQ(parse_driver_info(to_text(info)), info);
  info.version.clear();
  EXPECT_EQ(parse_driver_info(to_text(info)), info);
  for (const char* text :
       {"", "2.10.1", "2.1 api 2 device 1e52:401e at x y", "2.1 api -2 device 1e52:401e at x",
        "2.1  api 2 device 1e52:401e at x"}) {
    EXPECT_FALSE(parse_driver_info(text)) << text;
  }
  EXPECT_FALSE(parse_driver_info(std::string(5000, 'x')));
}

TEST(ReadErrors, KeepTheKernelsName) {
  EXPECT_EQ(error_name(fail_read(ENODEV, "x").value()), "ENODEV");
  EXPECT_EQ(error_name(fail_read("EBUSY", "x").value()), "EBUSY");
  EXPECT_EQ(fail_read("EBUSY", "x").value().kind, ErrorKind::transient);
  EXPECT_EQ(error_name(fail_read("ESTRANGE", "x").value()), "ESTRANGE");
  EXPECT_EQ(error_name(fail(ErrorKind::usage, "not allowed").value()), "EPERM");
  EXPECT_EQ(error_name(fail(ErrorKind::corrupt, "Every word is wrong").value()), "EIO");
}

TEST(Allowed, NothingThatIsNotListed) {
  EXPECT_TRUE(may_read_config(0));
  EXPECT_FALSE(may_read_config(0x10));
  EXPECT_TRUE(may_read_bar(0x1FF5002C));
  EXPECT_TRUE(may_read_bar(0x1FF30060));
  EXPECT_TRUE(may_read_bar(0x1FE80000));
  EXPECT_TRUE(may_read_bar(0x1FEFFFFC));
  for (const std::uint32_t offset :
       {0x1FF30328U, 0x1FF30064U, 0x1FF300E0U, 0x1FE7FFFCU, 0x1FF00000U, 0x1FE80002U, 0U}) {
    EXPECT_FALSE(may_read_bar(offset)) << offset;
  }
  EXPECT_TRUE(may_read_noc(0, 10, 0xFFFB2002C));
  EXPECT_TRUE(may_read_noc(9, 6, 0x1104));
  EXPECT_TRUE(may_read_noc(4, 6, 0x1200 + 4 * 15));
  EXPECT_FALSE(may_read_noc(4, 6, 0x1200 + 4 * 16));
  EXPECT_FALSE(may_read_noc(9, 6, 0x1105));
  // A Tensix core's debug register, by which a chip is hung on purpose.
  for (unsigned x = 0; x < 32; ++x) {
    for (unsigned y = 0; y < 32; ++y) EXPECT_FALSE(may_read_noc(x, y, 0xFFB11030));
  }
  EXPECT_FALSE(may_read_noc(1, 1, 0x1104));
  EXPECT_FALSE(may_read_noc(0, 0, 0x0));
}

TEST(Allowed, WhateverALookReads) {
  FakeCard card;
  look_at_arc(card);
  look_at_ethernet(card, wormhole::on_board_channels);
  card.put_legacy();
  look_at_arc(card);
  ASSERT_GT(card.reads.size(), 150U);
  for (const std::string& key : card.reads) {
    unsigned x = 0;
    unsigned y = 0;
    unsigned long address = 0;
    if (std::sscanf(key.c_str(), "noc %u %u %lx", &x, &y, &address) == 3) {
      EXPECT_TRUE(may_read_noc(x, y, address)) << key;
    } else if (std::sscanf(key.c_str(), "bar %lx", &address) == 1) {
      EXPECT_TRUE(may_read_bar(static_cast<std::uint32_t>(address))) << key;
    } else {
      ASSERT_EQ(std::sscanf(key.c_str(), "config %lx", &address), 1) << key;
      EXPECT_TRUE(may_read_config(static_cast<std::uint32_t>(address))) << key;
    }
  }
}

TEST(Replay, AnswersInOrderAndRepeatsTheLast) {
  const std::vector<Reading> readings{{"bar 0x4", "0x1", ""},
                                      {"bar 0x4", "0x2", ""},
                                      {"bar 0x8", "", "ENODEV"},
                                      {"bar 0xc", "many", ""}};
  ReplayRegisters replay(readings);
  EXPECT_EQ(replay.bar32(4), 1U);
  EXPECT_EQ(replay.bar32(4), 2U);
  EXPECT_EQ(replay.bar32(4), 2U);
  EXPECT_EQ(error_name(replay.bar32(8).error()), "ENODEV");
  EXPECT_EQ(replay.bar32(12).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(replay.bar32(16).error().kind, ErrorKind::usage);
  EXPECT_THAT(replay.driver().error().what, HasSubstr("was not recorded"));
}

TEST(Replay, WhatWasNotReadAfterAWaitIsNotKnown) {
  const std::vector<Reading> readings{{"bar 0x4", "0x1", ""}};
  ReplayRegisters replay(readings);
  EXPECT_EQ(replay.bar32(4), 1U);
  EXPECT_EQ(replay.bar32(4), 1U);
  ASSERT_TRUE(replay.wait(std::chrono::milliseconds(5)));
  EXPECT_EQ(replay.bar32(4).error().kind, ErrorKind::usage);
}

// The whole idea: what a child streamed tells the parent as much as the card told the child.
TEST(Replay, ARecordedLookIsTheSameLook) {
  for (const bool legacy : {false, true}) {
    FakeCard card;
    if (legacy) card.put_legacy();
    card.frozen_channels[9] = true;
    std::string lines;
    RecordingRegisters recording(card,
                                 [&](const Reading& reading) { lines += format(reading) + "\n"; });
    const ArcLook arc = look_at_arc(recording);
    const EthernetLook ethernet = look_at_ethernet(recording, wormhole::on_board_channels);

    const auto readings = read_lines(lines);
    ReplayRegisters replay(readings);
    const ArcLook arc_again = look_at_arc(replay);
    const EthernetLook ethernet_again = look_at_ethernet(replay, wormhole::on_board_channels);
    EXPECT_EQ(arc_again.driver, arc.driver);
    EXPECT_EQ(arc_again.heartbeat, Heartbeat::alive);
    ASSERT_TRUE(arc_again.telemetry);
    EXPECT_EQ(arc_again.telemetry->temperature_c, 57);
    EXPECT_EQ(arc_again.telemetry->board_id, FakeCard::board_id);
    ASSERT_EQ(ethernet_again.channels.size(), 2U);
    EXPECT_EQ(judge_on_board_link(ethernet_again.channels[0], {}).state, EthernetState::up);
    EXPECT_EQ(judge_on_board_link(ethernet_again.channels[1], {}).state, EthernetState::down);
  }
}

// A child may be killed after any line.
TEST(Replay, ALookCutAnywhereShowsNoFault) {
  FakeCard card;
  std::vector<Reading> all;
  RecordingRegisters recording(card, [&](const Reading& reading) { all.push_back(reading); });
  look_at_arc(recording);
  look_at_ethernet(recording, wormhole::on_board_channels);
  for (std::size_t kept = 0; kept <= all.size(); ++kept) {
    const std::vector<Reading> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
    ReplayRegisters replay(some);
    const ArcLook arc = look_at_arc(replay);
    EXPECT_EQ(arc.hang, Hang::none) << kept;
    EXPECT_NE(arc.heartbeat, Heartbeat::frozen) << kept;
    EXPECT_NE(arc.state, ArcState::no_firmware) << kept;
    EXPECT_TRUE(arc.driver_error.empty()) << kept;
    for (const auto& core : look_at_ethernet(replay, wormhole::on_board_channels).channels) {
      const EthernetState state = judge_on_board_link(core, FakeCard::board_id).state;
      EXPECT_TRUE(state == EthernetState::up || state == EthernetState::unknown) << kept;
    }
  }
}

}  // namespace
}  // namespace trainward::hwprobe
