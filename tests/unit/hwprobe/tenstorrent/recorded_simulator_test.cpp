// Replay files: one of ours, and those made from a register dump of ttsim 1.10.0, variant wh_x2 (a
// simulated N300).
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/register_keys.hpp"
#include "hwprobe/tenstorrent/registers/register_recording.hpp"
#include "read_lines.hpp"

namespace trainward::hwprobe {
namespace {

namespace at = wormhole::ethernet;

struct Seen {
  ArcLook arc;
  EthernetLook ethernet;
  Board board;
};

Seen look_at(const std::vector<Reading>& readings) {
  ReplayRegisters replay(readings);
  Seen seen;
  BoardFacts facts;
  Baselines baselines("boot");
  seen.arc = look_at_arc(replay);
  add(seen.arc, facts);
  seen.ethernet = look_at_ethernet(replay, wormhole::on_board_channels);
  add(seen.ethernet, seen.arc, baselines, facts);
  seen.board = judge(facts);
  return seen;
}

TEST(RecordedSimulator, OurSample) {
  std::ifstream file(std::string(SOURCE_FOLDER) + "/tests/unit/hwprobe/samples/ttsim_n300.replay");
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  const Seen seen = look_at(read_lines(text.str()));
  EXPECT_EQ(seen.board.verdict, Verdict::ok);
  EXPECT_EQ(seen.board.serial, "01000146118320AE");
  EXPECT_EQ(seen.arc.heartbeat, Heartbeat::alive);
  EXPECT_EQ(seen.board.links.size(), 2U);
}

// What a line of the dump says in a form such as " train[1104]=1 ".
std::string field(const std::string& line, const std::string& name) {
  const auto begin = line.find(name);
  if (begin == std::string::npos) return "";
  const auto value = begin + name.size();
  return line.substr(value, line.find_first_of(" /", value) - value);
}

class Dump {
 public:
  void bar(std::uint32_t offset, std::uint32_t word) {
    readings.push_back({bar_key(offset), word_text(word), ""});
  }
  void csm(std::uint32_t address, std::uint32_t word) {
    bar(address - wormhole::csm_begin + wormhole::bar::csm, word);
  }

  // "table=0x810000100 values=0x810000200 version=0x1 entries=14 : 1=0x1000146 …"
  void telemetry(const std::string& line) {
    constexpr std::uint32_t table = 0x10000100;
    constexpr std::uint32_t values = 0x10000200;
    bar(wormhole::bar::telemetry_table, table);
    bar(wormhole::bar::telemetry_values, values);
    csm(table, 1);
    std::istringstream tags(line.substr(line.find(" : ") + 3));
    std::uint32_t count = 0;
    unsigned tag = 0;
    unsigned word = 0;
    for (std::string item; tags >> item; ++count) {
      ASSERT_EQ(std::sscanf(item.c_str(), "%u=%x", &tag, &word), 2) << item;
      csm(table + 8 + 4 * count, (count << 16) | tag);
      csm(values + 4 * count, word);
    }
    csm(table + 4, count);
  }

  // "eth8  noc(9,6) train[1104]=1 … hb 0xabcd003c->0xabcd0041 … lbrd=0x618320ae/0 …"
  void channel(const std::string& line) {
    unsigned number = 0;
    unsigned x = 0;
    unsigned y = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "eth%u noc(%u,%u)", &number, &x, &y), 3) << line;
    EXPECT_EQ(wormhole::ethernet_tiles.at(number).x, x);
    EXPECT_EQ(wormhole::ethernet_tiles.at(number).y, y);
    const auto put = [&](std::uint32_t address, const std::string& text, int base) {
      const auto word = static_cast<std::uint32_t>(std::stoul(text, nullptr, base));
      readings.push_back({noc_key(x, y, address), word_text(word), ""});
    };
    const auto beats = line.find("hb ") + 3;
    put(at::heartbeat, line.substr(beats, 10), 16);
    put(at::heartbeat, line.substr(beats + 12, 10), 16);
    put(at::train_status, field(line, "train[1104]="), 10);
    put(at::link_inactive, field(line, "lnkerr[1440]="), 10);
    put(at::routing_off, field(line, "rtfw_off[104c]="), 10);
    put(at::firmware, field(line, "fw[210]="), 16);
    put(at::retrains, field(line, "retrain[1edc]="), 10);
    put(at::remote_channel, field(line, "rch="), 10);
    for (const auto& [name, low, high] :
         {std::tuple("lbrd=", at::local_board_low, at::local_board_high),
          std::tuple("rbrd=", at::remote_board_low, at::remote_board_high)}) {
      put(low, field(line, name), 16);
      put(high, line.substr(line.find('/', line.find(name)) + 1, 1), 10);
    }
  }

  std::vector<Reading> readings{{config_key(0), "0x401e1e52", ""},
                                {bar_key(wormhole::bar::bus_check), "0x1060a280", ""},
                                {bar_key(wormhole::bar::post_code), "0xc0de0001", ""},
                                {bar_key(wormhole::bar::message_status), "0x0", ""}};
};

TEST(RecordedSimulator, TheDumpOfTtsim) {
  std::ifstream file(std::string(SOURCE_FOLDER) +
                     "/tests/unit/hwprobe/samples/ttsim_wh_x2_registers.txt");
  ASSERT_TRUE(file);
  Dump left;
  Dump right;
  int tables = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("table=") != std::string::npos) (tables++ == 0 ? left : right).telemetry(line);
    if (line.substr(0, 3) == "eth") left.channel(line);
  }
  ASSERT_EQ(tables, 2);

  const Seen seen = look_at(left.readings);
  EXPECT_EQ(seen.board.verdict, Verdict::ok);
  EXPECT_EQ(seen.board.type, "n300");
  EXPECT_EQ(seen.board.serial, "01000146118320AE");
  ASSERT_EQ(seen.board.links.size(), 2U);
  EXPECT_TRUE(seen.board.links[0].up && seen.board.links[1].up);
  ASSERT_TRUE(seen.arc.telemetry);
  EXPECT_EQ(seen.arc.telemetry->location, 0U);
  EXPECT_EQ(seen.arc.telemetry->firmware, "18.4.0.0");
  EXPECT_EQ(seen.arc.telemetry->clock_mhz, 1000U);

  // Chip R's own table, as the other chip would read it.
  const Seen other = look_at(right.readings);
  ASSERT_TRUE(other.arc.telemetry);
  EXPECT_EQ(other.arc.telemetry->location, 1U);
  EXPECT_EQ(other.arc.telemetry->board_id, seen.arc.telemetry->board_id);
}

}  // namespace
}  // namespace trainward::hwprobe
