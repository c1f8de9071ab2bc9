// Versions, ids, hang checks, the management processor and its telemetry.
#include <gmock/gmock.h>

#include "fake_card.hpp"
#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/board_id.hpp"
#include "hwprobe/tenstorrent/decode/versions.hpp"

namespace trainward::hwprobe {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Versions, ArePackedInTwoWays) {
  EXPECT_EQ(Version::of_bundle(0x13070100)->text(), "19.7.1.0");
  EXPECT_EQ(Version::of_ethernet(0x6E000)->text(), "6.14.0");
  EXPECT_EQ(Version::of_ethernet(0x71003)->text(), "7.1.3");
  EXPECT_FALSE(Version::of_bundle(0));
  EXPECT_FALSE(Version::of_ethernet(0));
}

TEST(Versions, TextComesBackOrIsNone) {
  for (const char* text : {"19", "18.3", "6.14.0", "80.17.0.0"}) {
    EXPECT_EQ(Version::parse(text)->text(), text);
  }
  for (const char* text : {"", ".", "x", "1.", "1.2.3.4.5", "1.-2", "99999999999", "1.2 "}) {
    EXPECT_FALSE(Version::parse(text)) << text;
  }
}

TEST(Versions, TheOldNumberingPrecedesAll) {
  const auto older = [](const char* a, const char* b) {
    return Version::parse(a)->older_than(*Version::parse(b));
  };
  EXPECT_TRUE(older("18.2.9.9", "18.3"));
  EXPECT_FALSE(older("18.3", "18.3.0.0"));
  EXPECT_TRUE(older("80.17.0.0", "18.3"));
  EXPECT_TRUE(older("80.17.0.0", "1.0"));
  EXPECT_TRUE(older("80.16.0.0", "80.17.0.0"));
  EXPECT_FALSE(older("19.7", "80.17"));
}

TEST(BoardIds, AsSeenOnRealBoardsAndTheSimulator) {
  EXPECT_EQ(serial_text(0x010001451170C0C4), "010001451170C0C4");
  EXPECT_EQ(mangled(0x010001451170C0C4), 0x5170C0C4U);
  EXPECT_EQ(mangled(0x01000146118320AE), 0x618320AEU);
  EXPECT_EQ(board_type(0x010001451170C0C4), "n300");
  EXPECT_EQ(board_type(0x0100018511708037), "n150");
  EXPECT_EQ(board_type(0x0100035511708037), "galaxy-wormhole");
  EXPECT_EQ(board_type(0), "unknown");
}

TEST(HangChecks, StopAtTheFirstThatFails) {
  FakeCard card;
  EXPECT_EQ(check_hang(card), Hang::none);
  EXPECT_EQ(card.reads.size(), 4U);
  const std::vector<std::pair<Hang, std::function<void()>>> faults{
      {Hang::reset_unit, [&] { card.bar[wormhole::bar::scratch6] = 0xFFFFFFFF; }},
      {Hang::noc,
       [&] {
         card.noc[{0, 10, wormhole::noc_check}] = 0xFFFFFFFF;
       }},
      {Hang::bus, [&] { card.bar[wormhole::bar::bus_check] = 0xFFFFFFFF; }},
      {Hang::off_bus, [&] { card.config[0] = 0xFFFFFFFF; }},
  };
  std::size_t reads = 4;
  for (const auto& [hang, fault] : faults) {
    fault();
    card.reads.clear();
    EXPECT_EQ(check_hang(card), hang);
    EXPECT_EQ(card.reads.size(), reads--);
    card.reads.clear();
    const ArcLook look = look_at_arc(card);
    EXPECT_EQ(look.hang, hang);
    EXPECT_FALSE(look.post_code);
    EXPECT_EQ(card.reads.size(), reads + 1) << "a dead part was asked again";
  }
}

TEST(HangChecks, WhatCannotBeReadIsNoHang) {
  FakeCard card;
  card.on_read = [](const std::string&) { return std::string("EACCES"); };
  EXPECT_EQ(check_hang(card), Hang::none);
}

TEST(HangChecks, AHangInTheMiddleOfALookIsFoundAtItsEnd) {
  FakeCard card;
  card.on_wait = [&] {
    card.bar[wormhole::bar::bus_check] = 0xFFFFFFFF;
    for (auto& [offset, word] : card.bar) word = 0xFFFFFFFF;
  };
  const ArcLook look = look_at_arc(card);
  EXPECT_EQ(look.hang, Hang::bus);
  EXPECT_FALSE(look.telemetry);
}

TEST(HangChecks, OneWordOfAllOnesIsNotAHang) {
  FakeCard card;
  card.put_tag(22, 0xFFFFFFFF);
  const ArcLook look = look_at_arc(card);
  EXPECT_EQ(look.hang, Hang::none);
  ASSERT_TRUE(look.telemetry);
  EXPECT_TRUE(look.telemetry->dram.empty());
}

TEST(ArcStates, ByPostCodeAndMessageStatus) {
  EXPECT_EQ(arc_state({}, 0), ArcState::unknown);
  EXPECT_EQ(arc_state(0xC0DE0001, {}), ArcState::running);
  EXPECT_EQ(arc_state(0xC0DE003F, 0), ArcState::running);
  EXPECT_EQ(arc_state(0xC0DE0001, 1), ArcState::running);
  EXPECT_EQ(arc_state(0xC0DE0001, 0xAA34), ArcState::running);
  EXPECT_EQ(arc_state(0xC0DE0001, 0xAA00), ArcState::asleep);
  EXPECT_EQ(arc_state(0xC0DE0001, 0x55), ArcState::asleep);
  EXPECT_EQ(arc_state(0xC0DE0001, 0x60), ArcState::booting);
  EXPECT_EQ(arc_state(0x11110000, 0), ArcState::booting);
  EXPECT_EQ(arc_state(0xC0DE0001, 0xDEADC0DE), ArcState::watchdog);
  EXPECT_EQ(arc_state(0, 0), ArcState::no_firmware);
  EXPECT_EQ(arc_state(0xFFFFFFFF, 0xFFFFFFFF), ArcState::no_firmware);
}

TEST(TagTables, AreReadInUnits) {
  FakeCard card;
  const ArcLook look = look_at_arc(card);
  ASSERT_TRUE(look.telemetry);
  const Telemetry& telemetry = *look.telemetry;
  EXPECT_EQ(telemetry.source, Telemetry::Source::tags);
  EXPECT_EQ(telemetry.board_id, FakeCard::board_id);
  EXPECT_EQ(telemetry.asic_id, 0x123456789ABCDEF0U);
  EXPECT_EQ(telemetry.location, 0U);
  EXPECT_EQ(telemetry.firmware, "19.7.1.0");
  EXPECT_EQ(telemetry.ethernet_firmware, "6.14.0");
  EXPECT_EQ(telemetry.temperature_c, 57);
  EXPECT_EQ(telemetry.board_temperature_c, 35);
  EXPECT_EQ(telemetry.throttle_c, 75);
  EXPECT_EQ(telemetry.shutdown_c, 83);
  EXPECT_EQ(telemetry.core_v, 0.8);
  EXPECT_EQ(telemetry.power_w, 12);
  EXPECT_EQ(telemetry.clock_mhz, 500U);
  EXPECT_EQ(telemetry.dram.size(), 6U);
  EXPECT_THAT(telemetry.dram, Each(DramState::good));
  EXPECT_EQ(look.heartbeat, Heartbeat::alive);
  EXPECT_THAT(card.waits, ElementsAre(1200));
}

TEST(TagTables, FractionsAndNegativeTemperatures) {
  FakeCard card;
  card.put_tag(11, 0x00398000);
  EXPECT_EQ(look_at_arc(card).telemetry->temperature_c, 57.5);
  card.put_tag(11, 0xFFFB0000);
  EXPECT_EQ(look_at_arc(card).telemetry->temperature_c, -5);
  card.put_tag(11, 0x7FFF0000);
  EXPECT_FALSE(look_at_arc(card).telemetry->temperature_c);
}

TEST(TagTables, MemoryChannelsAreTwoBitsEach) {
  FakeCard card;
  card.put_tag(22, 0xFFFFF155);  // what is above the six channels means nothing
  const auto dram = look_at_arc(card).telemetry->dram;
  EXPECT_THAT(dram, ElementsAre(DramState::good, DramState::good, DramState::good, DramState::good,
                                DramState::good, DramState::untrained));
  card.put_tag(22, 0x556);
  EXPECT_EQ(look_at_arc(card).telemetry->dram.front(), DramState::failed);
}

TEST(TagTables, OutOfBoundsIsCorruptAndReadsNothingElse) {
  struct Case {
    const char* what;
    std::function<void(FakeCard&)> damage;
  };
  const auto pointer = [](std::uint32_t register_, std::uint32_t value) {
    return [=](FakeCard& card) { card.bar[register_] = value; };
  };
  const auto table = wormhole::bar::telemetry_table;
  const auto values = wormhole::bar::telemetry_values;
  const std::vector<Case> cases{
      {"below", pointer(table, 0x0FFFFFFC)},
      {"above", pointer(table, 0x10080000)},
      {"at the edge", pointer(table, 0x1007FFFC)},
      {"unaligned", pointer(table, 0x10000101)},
      {"all ones", pointer(table, 0xFFFFFFFF)},
      {"values nowhere", pointer(values, 0)},
      {"values above", pointer(values, 0x20000000)},
      {"too many", [](FakeCard& card) { card.put_csm(FakeCard::table + 4, 257); }},
      {"all ones many", [](FakeCard& card) { card.put_csm(FakeCard::table + 4, 0xFFFFFFFF); }},
      {"newer version", [](FakeCard& card) { card.put_csm(FakeCard::table, 0x20000); }},
  };
  for (const Case& one : cases) {
    FakeCard card;
    one.damage(card);
    const auto result = read_tag_table(card);
    ASSERT_FALSE(result) << one.what;
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt) << one.what;
    EXPECT_LE(card.reads.size(), 4U) << one.what;
  }
  FakeCard card;
  card.bar[table] = 0;
  const auto none = read_tag_table(card);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(TagTables, AnEntryOutsideIsLeftOut) {
  FakeCard card;
  card.bar[wormhole::bar::telemetry_values] = 0x1007FFF8;
  card.put_csm(FakeCard::table + 4, 3);
  card.put_csm(0x1007FFF8, 11);
  card.put_csm(0x1007FFFC, 22);
  const auto result = read_tag_table(card);
  ASSERT_TRUE(result && *result);
  EXPECT_EQ((*result)->values.size(), 2U);
  EXPECT_EQ((*result)->value(2), 22U);
  EXPECT_FALSE((*result)->value(3));
}

TEST(LegacyTelemetry, IsReadWhereThereIsNoTable) {
  FakeCard card;
  card.put_legacy();
  const ArcLook look = look_at_arc(card);
  ASSERT_TRUE(look.telemetry);
  const Telemetry& telemetry = *look.telemetry;
  EXPECT_EQ(telemetry.source, Telemetry::Source::array);
  EXPECT_EQ(telemetry.board_id, FakeCard::board_id);
  EXPECT_EQ(telemetry.firmware, "18.3.0.0");
  EXPECT_EQ(telemetry.ethernet_firmware, "6.14.0");
  EXPECT_EQ(telemetry.temperature_c, 57);
  EXPECT_EQ(telemetry.throttle_c, 75);
  EXPECT_EQ(telemetry.shutdown_c, 83);
  EXPECT_EQ(telemetry.clock_mhz, 500U);
  EXPECT_EQ(telemetry.power_w, 12);
  EXPECT_THAT(telemetry.dram, Each(DramState::good));
  EXPECT_EQ(look.heartbeat, Heartbeat::alive);

  card.put_legacy(14, 0x02223012);
  EXPECT_THAT(look_at_arc(card).telemetry->dram,
              ElementsAre(DramState::good, DramState::failed, DramState::untrained,
                          DramState::untrained, DramState::good, DramState::good));
  card.put_legacy(0, 0x12345678);
  EXPECT_FALSE(look_at_arc(card).telemetry);
}

TEST(LegacyTelemetry, WordsThatWereNeverSetAreAbsent) {
  FakeCard card;
  card.put_legacy();
  for (std::uint32_t i = 1; i < 50; ++i) card.put_legacy(i, 0);
  card.arc_frozen = true;
  const ArcLook look = look_at_arc(card);
  ASSERT_TRUE(look.telemetry);
  EXPECT_EQ(look.telemetry->firmware, "");
  EXPECT_FALSE(look.telemetry->temperature_c);
  EXPECT_FALSE(look.telemetry->throttle_c);
  EXPECT_TRUE(look.telemetry->dram.empty());
  EXPECT_EQ(look.heartbeat, Heartbeat::unknown);
}

TEST(Heartbeats, StandStillOnlyAfterTwoSeconds) {
  FakeCard card;
  card.arc_frozen = true;
  EXPECT_EQ(look_at_arc(card).heartbeat, Heartbeat::frozen);
  EXPECT_THAT(card.waits, ElementsAre(1200, 1000));
  card.waits.clear();
  card.on_wait = [&] {
    card.arc_frozen = card.waits.size() < 2;
    card.beat();
  };
  EXPECT_EQ(look_at_arc(card).heartbeat, Heartbeat::alive);
}

TEST(Heartbeats, ACounterThatGoesRoundIsAlive) {
  FakeCard card;
  card.put_tag(32, 0xFFFFFFFE);
  EXPECT_EQ(look_at_arc(card).heartbeat, Heartbeat::alive);
}

TEST(ArcLooks, ADeadProcessorIsNotAskedForTelemetry) {
  FakeCard card;
  card.bar[wormhole::bar::post_code] = 0x12345678;
  const ArcLook look = look_at_arc(card);
  EXPECT_EQ(look.state, ArcState::no_firmware);
  EXPECT_FALSE(look.telemetry);
  EXPECT_TRUE(card.waits.empty());
}

}  // namespace
}  // namespace trainward::hwprobe
