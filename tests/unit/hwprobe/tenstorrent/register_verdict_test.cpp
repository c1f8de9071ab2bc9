// From registers to verdicts: every verdict, its words, and never one about a healthy card.
#include <gmock/gmock.h>

#include <random>

#include "fake_card.hpp"
#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
namespace at = wormhole::ethernet;

// As the kernel's attributes leave it for the registers.
BoardFacts from_kernel() {
  BoardFacts facts;
  facts.bus_id = "0000:c1:00.0";
  ChipFacts left;
  left.id = "L";
  left.confidence = "kernel attributes";
  left.looked_at = true;
  facts.chips.push_back(left);
  return facts;
}

BoardFacts look_at(FakeCard& card, Baselines& baselines, BoardFacts facts = from_kernel()) {
  const ArcLook arc = look_at_arc(card);
  add(arc, facts);
  if (arc.hang == Hang::none) {
    add(look_at_ethernet(card, wormhole::on_board_channels), arc, baselines, facts);
  }
  return facts;
}

Board board_of(FakeCard& card, BoardFacts facts = from_kernel()) {
  Baselines baselines("boot");
  return judge(look_at(card, baselines, std::move(facts)));
}

std::string first_word(const Board& board) {
  return board.evidence.empty() ? "" : board.evidence.front().what;
}

TEST(RegisterVerdicts, AHealthyCard) {
  FakeCard card;
  const Board board = board_of(card);
  EXPECT_EQ(board.verdict, Verdict::ok) << first_word(board);
  EXPECT_TRUE(board.evidence.empty());
  EXPECT_EQ(board.serial, "010001451170C0C4");
  EXPECT_EQ(board.type, "n300");
  ASSERT_EQ(board.chips.size(), 2U);
  EXPECT_EQ(board.chips[0].temperature_c, 57);
  EXPECT_EQ(board.chips[0].confidence, "kernel attributes and registers");
  EXPECT_EQ(board.chips[1].id, "R");
  EXPECT_EQ(board.chips[1].verdict, Verdict::ok);
  EXPECT_EQ(board.chips[1].confidence, "link level only");
  ASSERT_EQ(board.links.size(), 2U);
  EXPECT_EQ(board.links[1].to, "R:1");
}

TEST(RegisterVerdicts, EveryFaultOfTheCard) {
  struct Case {
    std::function<void(FakeCard&)> damage;
    Verdict verdict;
    const char* words;
  };
  const auto bar = [](std::uint32_t offset, std::uint32_t word) {
    return [=](FakeCard& card) { card.bar[offset] = word; };
  };
  const auto tag = [](std::uint16_t number, std::uint32_t word) {
    return [=](FakeCard& card) { card.put_tag(number, word); };
  };
  const auto channel = [](unsigned number, std::uint32_t address, std::uint32_t word) {
    return [=](FakeCard& card) { card.at_channel(number, address) = word; };
  };
  const std::vector<Case> cases{
      {[](FakeCard& card) { card.config[0] = 0xFFFFFFFF; }, Verdict::off_bus, "fallen off"},
      {bar(wormhole::bar::bus_check, 0xFFFFFFFF), Verdict::bus_hung, "does not answer over PCIe"},
      {bar(wormhole::bar::scratch6, 0xFFFFFFFF), Verdict::bus_hung, "all ones"},
      {[](FakeCard& card) {
         card.noc[{0, 10, wormhole::noc_check}] = 0xFFFFFFFF;
       },
       Verdict::noc_hung, "NOC0"},
      {[](FakeCard& card) { card.driver_error = "ENODEV"; }, Verdict::resetting, "being reset"},
      {[](FakeCard& card) { card.driver_error = "ENODATA"; }, Verdict::resetting, "being reset"},
      {[](FakeCard& card) { card.driver_error = "EAGAIN"; }, Verdict::busy, "lets no other open"},
      {bar(wormhole::bar::post_code, 0), Verdict::arc_dead, "post code 0x00000000"},
      {bar(wormhole::bar::post_code, 0x11110000), Verdict::resetting, "booting"},
      {bar(wormhole::bar::message_status, 0xDEADC0DE), Verdict::arc_dead, "watchdog"},
      {[](FakeCard& card) { card.arc_frozen = true; }, Verdict::arc_dead, "stands still"},
      {tag(22, 0x155), Verdict::dram_bad, "memory channel 5 did not train"},
      {tag(22, 0x95A), Verdict::dram_bad, "memory channels 0, 1, 5 failed"},
      {tag(11, 75 << 16), Verdict::hot, "75.0 °C, its limit is 75 °C"},
      {tag(11, 90 << 16), Verdict::hot, "shuts down at 83 °C"},
      {tag(56, 50), Verdict::hot, "its limit is 50 °C"},
      {tag(28, 0x12020000), Verdict::degraded, "18.2.0.0 is older than 18.3"},
      {channel(8, at::firmware, 0x69000), Verdict::degraded, "6.9.0 is older than 6.14"},
      {channel(8, at::train_status, 2), Verdict::degraded, "L:8 to R:0 is down (training failed)"},
      {channel(9, at::train_status, 0), Verdict::degraded, "L:9 to R:1 is not up yet"},
      {[](FakeCard& card) {
         card.at_channel(8, at::train_status) = 2;
         card.frozen_channels[9] = true;
       },
       Verdict::remote_lost, "both on-board Ethernet links are down"},
      {[](FakeCard& card) {
         card.at_channel(8, at::train_status) = 0;
         card.at_channel(9, at::train_status) = 2;
       },
       Verdict::resetting, "chip R cannot be reached yet"},
      // Not faults.
      {[](FakeCard& card) {
         card.bar[wormhole::bar::message_status] = 0x55;
         card.arc_frozen = true;
       },
       Verdict::ok, ""},
      {tag(11, 74 << 16), Verdict::ok, ""},
      {channel(9, at::retrains, 4000), Verdict::ok, ""},
      {bar(wormhole::bar::telemetry_table, 0x1234), Verdict::ok, ""},
      {bar(wormhole::bar::telemetry_table, 0), Verdict::ok, ""},
  };
  int number = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(number++);
    FakeCard card;
    one.damage(card);
    BoardFacts kernel = from_kernel();
    kernel.type = "n300";
    const Board board = board_of(card, kernel);
    EXPECT_EQ(board.verdict, one.verdict) << first_word(board);
    EXPECT_THAT(first_word(board), HasSubstr(one.words));
    for (const Evidence& evidence : board.evidence) {
      EXPECT_TRUE(evidence.advice != "" || board.verdict == Verdict::remote_lost) << evidence.what;
    }
  }
}

TEST(RegisterVerdicts, CountersByTheirGrowth) {
  FakeCard card;
  Baselines baselines("boot");
  for (const unsigned channel : wormhole::on_board_channels) {
    card.at_channel(channel, at::retrains) = 40;
    card.at_channel(channel, at::crc_errors) = 5;
    card.at_channel(channel, at::uncorrected_low) = 6;
  }
  EXPECT_EQ(judge(look_at(card, baselines)).verdict, Verdict::ok);
  card.at_channel(8, at::retrains) = 42;
  card.at_channel(9, at::crc_errors) = 6;
  card.at_channel(9, at::uncorrected_high) = 1;
  const Board board = judge(look_at(card, baselines));
  EXPECT_EQ(board.verdict, Verdict::degraded);
  ASSERT_EQ(board.evidence.size(), 3U);
  EXPECT_EQ(board.evidence[0].what, "on-board link L:8 to R:0 was retrained 2 times");
  EXPECT_EQ(board.evidence[1].what,
            "on-board link L:9 to R:1 lost 4294967296 codewords that could not be corrected");
  EXPECT_EQ(board.evidence[2].what, "on-board link L:9 to R:1 had 1 checksum error");
  EXPECT_EQ(board.links[0].retrains, 2);
}

TEST(RegisterVerdicts, OneUnreadLinkIsNotALostChip) {
  FakeCard card;
  card.at_channel(8, at::train_status) = 2;
  card.at_channel(9, at::train_status) = 0xFFFFFFFF;
  const Board board = board_of(card);
  EXPECT_EQ(board.verdict, Verdict::degraded);
  EXPECT_EQ(board.links.size(), 1U);
}

TEST(RegisterVerdicts, ABoardWithoutChipRHasNoLinksToLose) {
  FakeCard card;
  card.put_tag(1, 0x01000185);
  for (const unsigned channel : wormhole::on_board_channels) {
    card.at_channel(channel, at::train_status) = 2;
    card.at_channel(channel, at::local_board_type) = 1;
  }
  const Board board = board_of(card);
  EXPECT_EQ(board.type, "n150");
  EXPECT_EQ(board.verdict, Verdict::ok);
  EXPECT_EQ(board.chips.size(), 1U);
}

TEST(RegisterVerdicts, AfterAResetNothingIsMissedForAWhile) {
  struct Case {
    std::function<void(FakeCard&)> damage;
    int grace_s;
    Verdict after;
  };
  const std::vector<Case> cases{
      {[](FakeCard& card) { card.bar[wormhole::bar::post_code] = 0; }, 120, Verdict::arc_dead},
      {[](FakeCard& card) { card.arc_frozen = true; }, 120, Verdict::arc_dead},
      {[](FakeCard& card) { card.put_tag(22, 0); }, 120, Verdict::dram_bad},
      {[](FakeCard& card) { card.at_channel(8, at::train_status) = 2; }, 180, Verdict::degraded},
      {[](FakeCard& card) {
         card.at_channel(8, at::train_status) = 2;
         card.at_channel(9, at::train_status) = 2;
       },
       180, Verdict::remote_lost},
      {[](FakeCard& card) {
         card.driver_error = "ENODEV";
         card.bar.clear();
         card.noc.clear();
       },
       180, Verdict::unknown},
      {[](FakeCard& card) { card.bar[wormhole::bar::post_code] = 0x11110000; }, 300,
       Verdict::arc_dead},
  };
  for (const Case& one : cases) {
    for (const int since : {0, one.grace_s - 1, one.grace_s}) {
      FakeCard card;
      one.damage(card);
      BoardFacts facts = from_kernel();
      facts.since_reset = seconds(since);
      const Board board = board_of(card, facts);
      EXPECT_EQ(board.verdict, since < one.grace_s ? Verdict::resetting : one.after)
          << since << ": " << first_word(board);
    }
  }
  // A failure of memory is no matter of patience.
  FakeCard card;
  card.put_tag(22, 0x557);
  BoardFacts facts = from_kernel();
  facts.since_reset = seconds(1);
  EXPECT_EQ(board_of(card, facts).verdict, Verdict::dram_bad);
}

TEST(RegisterVerdicts, WhatOnlyOthersCanSee) {
  BoardFacts facts = from_kernel();
  facts.stuck_in_kernel = true;
  EXPECT_EQ(judge(facts).verdict, Verdict::stuck_in_kernel);
  facts.present = false;
  EXPECT_EQ(judge(facts).verdict, Verdict::absent);
  EXPECT_EQ(judge(facts).chips.at(0).verdict, Verdict::absent);
}

TEST(RegisterVerdicts, ChipsOfABoardRunTheSameFirmware) {
  FakeCard card;
  Baselines baselines("boot");
  BoardFacts facts = look_at(card, baselines);
  ASSERT_EQ(facts.chips.size(), 2U);
  facts.chips[1].firmware = "18.4.0.0";
  EXPECT_EQ(first_word(judge(facts)), "firmware differs: chip L has 19.7.1.0, chip R has 18.4.0.0");
  facts.chips[1].firmware = "";
  facts.chips[1].ethernet_firmware = "6.15.0";
  EXPECT_EQ(judge(facts).verdict, Verdict::degraded);
}

TEST(RegisterVerdicts, BoardsOfAHostRunTheSameFirmware) {
  std::vector<BoardFacts> host(4, from_kernel());
  host[0].firmware = "19.7.1.0";
  host[1].firmware = "18.4.0.0";
  host[2].firmware = "";
  host[3].firmware = "19.7.1";
  const auto boards = judge_host(host);
  ASSERT_EQ(boards.size(), 4U);
  EXPECT_EQ(boards[0].verdict, Verdict::ok);
  EXPECT_EQ(first_word(boards[1]),
            "firmware bundle 18.4.0.0, another board of this host has 19.7.1.0");
  EXPECT_EQ(boards[2].verdict, Verdict::ok);
  EXPECT_EQ(boards[3].verdict, Verdict::ok);
  EXPECT_TRUE(judge_host({}).empty());
}

// A healthy card with parts of what it says left out, unreadable, in another order or among tags
// that nobody knows.
FakeCard& make_some_card(FakeCard& card, std::mt19937& random) {
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  const auto between = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (std::uint64_t{high} - low + 1));
  };
  if (chance(30)) {
    card.put_legacy();
    for (std::uint32_t i = 1; i < 50; ++i) {
      if (chance(30)) card.put_legacy(i, chance(50) ? 0 : 0xFFFFFFFF);
    }
    if (chance(10)) card.put_legacy(0, between(0, 5));
  } else {
    std::vector<std::pair<std::uint16_t, std::uint32_t>> tags{
        {1, 0x01000145},
        {2, 0x1170C0C4},
        {10, 83},
        {11, between(0, 74 * 65536)},
        {13, between(0, 0x7FFFFFFF)},
        {14, 500},
        {21, between(0, 0xFFFFFFFE)},
        {22, 0x555},
        {24, 0x6E000},
        {28, 0x12030000 + (between(0, 0x1FF) << 16)},
        {32, between(0, 0xFFFFFFFF)},
        {52, 0},
        {56, chance(20) ? 0 : 75},
        {61, 1},
        {62, between(0, 0xFFFFFFFF)}};
    std::erase_if(tags, [&](const auto&) { return chance(25); });
    for (unsigned i = between(0, 20); i > 0; --i) {
      tags.emplace_back(static_cast<std::uint16_t>(between(100, 65535)), between(0, 0xFFFFFFFF));
    }
    std::shuffle(tags.begin(), tags.end(), random);
    card.put_tags(tags);
  }
  for (const unsigned channel : wormhole::on_board_channels) {
    card.at_channel(channel, at::retrains) = between(0, 1000);
    card.at_channel(channel, at::crc_errors) = between(0, 0xFFFFFFFF);
    card.at_channel(channel, at::uncorrected_low) = between(0, 0xFFFFFFFF);
    card.at_channel(channel, at::link_status) = between(0, 6);
    card.at_channel(channel, at::link_inactive) = between(0, 20);
    card.at_channel(channel, at::connection + 4 * channel) = between(0, 3);
  }
  const unsigned unreadable = chance(50) ? between(0, 60) : 0;
  card.on_read = [&random, unreadable](const std::string& key) -> std::string {
    if (random() % 100 >= unreadable) return "";
    return key.substr(0, 3) == "bar" ? "ENODATA" : "EINVAL";
  };
  if (chance(10)) card.driver_error = "EACCES";
  return card;
}

BoardFacts some_kernel_facts(std::mt19937& random) {
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  BoardFacts facts = from_kernel();
  if (chance(50)) facts.type = "n300";
  if (chance(50)) facts.serial = "010001451170C0C4";
  if (chance(50)) facts.firmware = "19.7.1.0";
  if (chance(50)) facts.pcie = {"16.0 GT/s PCIe", chance(50) ? "16.0 GT/s PCIe" : "", "16", ""};
  if (chance(50)) facts.chips[0].temperature_c = 40;
  if (chance(50)) facts.chips[0].limit_c = 75;
  if (chance(50)) facts.chips[0].heartbeat = Heartbeat::alive;
  if (chance(20)) facts.since_reset = seconds(random() % 1000);
  if (chance(10)) facts.chips.clear();
  return facts;
}

TEST(RegisterVerdicts, AHealthyCardIsNeverCalledBad) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  int seen = 0;
  for (int i = 0; i < 10'000; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, card {}", seed, i));
    FakeCard card;
    const Board board = board_of(make_some_card(card, random), some_kernel_facts(random));
    ASSERT_TRUE(board.verdict == Verdict::ok || board.verdict == Verdict::unknown)
        << first_word(board);
    ASSERT_TRUE(board.evidence.empty()) << first_word(board);
    if (board.verdict == Verdict::ok) ++seen;
  }
  EXPECT_GT(seen, 9'000);
}

}  // namespace
}  // namespace trainward::hwprobe
