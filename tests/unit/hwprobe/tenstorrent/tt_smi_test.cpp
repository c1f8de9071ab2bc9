#include "hwprobe/tenstorrent/tt_smi/tt_smi.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

// Synthetic: one N300 in the form of tt-smi 4, all L entries before all R entries.
constexpr std::string_view healthy_snapshot = R"({
  "time": "2026-01-01T00:00:00",
  "host_info": {"OS": "Linux", "Driver": "TT-KMD 2.4.1"},
  "host_sw_vers": {"tt_smi": "4.0.0"},
  "device_info": [
    {"smbus_telem": {"BOARD_ID": "0x10001451170c0c4", "DDR_STATUS": "0x2222222", "FAULTS": null},
     "board_info": {"bus_id": "0000:41:00.0", "board_type": "n300 L",
                    "board_id": "10001451170c0c4", "dram_status": true,
                    "pcie_speed": 4, "pcie_width": "16"},
     "telemetry": {"voltage": "0.80", "power": " 12.0", "asic_temperature": " 54.3",
                   "heartbeat": "687038"},
     "firmwares": {"fw_bundle_version": "19.7.1.0", "eth_fw": "7.2.0", "cm_fw": "2.35.0.0"},
     "limits": {"thm_limit": "75", "bus_peak_limit": null}},
    {"smbus_telem": {"BOARD_ID": "0x10001451170c0c4", "DDR_STATUS": "0x2222222"},
     "board_info": {"bus_id": "N/A", "board_type": "n300 R", "board_id": "10001451170c0c4",
                    "dram_status": true, "pcie_speed": "N/A", "pcie_width": "N/A"},
     "telemetry": {"asic_temperature": "38.0"},
     "firmwares": {"fw_bundle_version": "19.7.1.0", "eth_fw": "7.2.0", "cm_fw": "2.35.0.0"},
     "limits": {"thm_limit": "75"}}
  ]})";

json::value healthy() { return *parse_json(healthy_snapshot, "sample"); }

json::object& device(json::value& snapshot, std::size_t index) {
  return snapshot.as_object()["device_info"].as_array()[index].as_object();
}

Report read(const json::value& snapshot) {
  auto report = read_tt_smi(json::serialize(snapshot), "sample");
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : Report{};
}

TEST(TtSmi, PairsBothChipsOfABoard) {
  const Report report = read(healthy());
  EXPECT_EQ(report.source, "tt-smi");
  ASSERT_EQ(report.boards.size(), 1U);
  const Board& board = report.boards[0];
  EXPECT_EQ(board.serial, "010001451170c0c4");
  EXPECT_EQ(board.type, "n300");
  EXPECT_EQ(board.bus_id, "0000:41:00.0");
  EXPECT_EQ(board.verdict, Verdict::ok);
  EXPECT_TRUE(board.evidence.empty());
  ASSERT_EQ(board.chips.size(), 2U);
  EXPECT_EQ(board.chips[0].id, "L");
  EXPECT_DOUBLE_EQ(board.chips[0].temperature_c, 54.3);
  EXPECT_EQ(board.chips[1].id, "R");
  EXPECT_DOUBLE_EQ(board.chips[1].temperature_c, 38);
  EXPECT_EQ(board.chips[1].confidence, "tt-smi");
}

TEST(TtSmi, TheOrderOfEntriesDoesNotMatter) {
  json::value snapshot = healthy();
  auto& devices = snapshot.as_object()["device_info"].as_array();
  std::swap(devices[0], devices[1]);
  EXPECT_EQ(to_json(read(snapshot)), to_json(read(healthy())));
}

TEST(TtSmi, NumbersMayBeNumbersOrText) {
  json::value snapshot = healthy();
  device(snapshot, 0)["telemetry"] = {{"asic_temperature", 76.5}};
  device(snapshot, 0)["limits"] = {{"thm_limit", 75}};
  EXPECT_EQ(read(snapshot).boards[0].verdict, Verdict::hot);
  device(snapshot, 0)["limits"] = {{"thm_limit", "90"}};
  EXPECT_EQ(read(snapshot).boards[0].verdict, Verdict::ok);
}

TEST(TtSmi, UntrainedMemoryIsBad) {
  json::value snapshot = healthy();
  device(snapshot, 1)["smbus_telem"] = {{"DDR_STATUS", "0x2222212"}};
  const Report report = read(snapshot);
  EXPECT_EQ(report.boards[0].verdict, Verdict::dram_bad);
  EXPECT_EQ(report.boards[0].chips[0].verdict, Verdict::ok);
  EXPECT_EQ(report.boards[0].chips[1].verdict, Verdict::dram_bad);
  EXPECT_EQ(report.boards[0].evidence.at(0).what, "chip R: not all of its memory could be trained");

  snapshot = healthy();  // older names and only the short form
  device(snapshot, 0)["smbus_telem"] = {{"SMBUS_TX_DDR_STATUS", nullptr}};
  device(snapshot, 0)["board_info"].as_object()["dram_status"] = false;
  EXPECT_EQ(read(snapshot).boards[0].verdict, Verdict::dram_bad);
}

TEST(TtSmi, DifferentFirmwareOnTheTwoChipsIsDegraded) {
  json::value snapshot = healthy();
  device(snapshot, 1)["firmwares"].as_object()["eth_fw"] = "7.0.0";
  const Report report = read(snapshot);
  EXPECT_EQ(report.boards[0].verdict, Verdict::degraded);
  EXPECT_EQ(report.boards[0].evidence.at(0).what,
            "chip L has Ethernet firmware 7.2.0, chip R has 7.0.0");
}

TEST(TtSmi, AChipRThatIsNotListedIsLost) {
  json::value snapshot = healthy();
  snapshot.as_object()["device_info"].as_array().pop_back();
  const Report report = read(snapshot);
  EXPECT_EQ(report.boards[0].verdict, Verdict::remote_lost);
  EXPECT_EQ(report.boards[0].chips.at(1).verdict, Verdict::remote_lost);
  device(snapshot, 0)["board_info"].as_object()["board_type"] = "n150 L";
  EXPECT_EQ(read(snapshot).boards[0].verdict, Verdict::ok);
}

TEST(TtSmi, ProcessesHoldTheBoardUnlessTheyAreTtSmi) {
  json::value snapshot = healthy();
  snapshot.as_object()["processes"] = {
      {{"pid", 7}, {"user", "root"}, {"device", 0}, {"cmdline", "/usr/bin/python3 tt-smi -s"}},
      {{"pid", nullptr}},
      5};
  EXPECT_EQ(read(snapshot).boards[0].verdict, Verdict::ok);
  snapshot.as_object()["processes"].as_array().push_back(
      {{"pid", "4711"}, {"device", "0000:41:00.0"}, {"cmdline", "python3 train.py"}});
  snapshot.as_object()["processes"].as_array().push_back({{"pid", 4712}, {"device", 0}});
  const Report report = read(snapshot);
  EXPECT_EQ(report.boards[0].verdict, Verdict::busy);
  EXPECT_EQ(report.boards[0].evidence.at(0).what, "in use by process 4711, 4712");
}

TEST(TtSmi, BoardsWithOneIdAndBusesOfTheirOwnAreToldApart) {
  json::value snapshot = healthy();
  auto& devices = snapshot.as_object()["device_info"].as_array();
  device(snapshot, 0)["board_info"].as_object()["board_type"] = "tt-galaxy-wh L";
  devices[1] = devices[0];
  device(snapshot, 1)["board_info"].as_object()["bus_id"] = "0000:42:00.0";
  const Report report = read(snapshot);
  ASSERT_EQ(report.boards.size(), 2U);
  EXPECT_EQ(report.boards[0].serial, "010001451170c0c4@0000:41:00.0");
  EXPECT_EQ(report.boards[1].serial, "010001451170c0c4@0000:42:00.0");
}

TEST(TtSmi, RefusesWhatIsNoSnapshot) {
  const auto error = [](std::string_view text) {
    const auto report = read_tt_smi(text, "file");
    return report ? "" : report.error().message();
  };
  EXPECT_THAT(error(""), HasSubstr("file"));
  EXPECT_THAT(error("[]"), HasSubstr("not a tt-smi snapshot"));
  EXPECT_THAT(error("{}"), HasSubstr("there is no list 'device_info'"));
  EXPECT_THAT(error(R"({"device_info": [1]})"), HasSubstr("not an object"));
  EXPECT_THAT(error(std::string(healthy_snapshot.substr(0, 700))), HasSubstr("valid JSON"));
  EXPECT_THAT(error(std::string(max_snapshot_bytes + 1, ' ')), HasSubstr("longer than"));
  EXPECT_THAT(error(std::string(5000, '[')), HasSubstr("JSON"));
  json::array many(65, json::object{});
  EXPECT_THAT(error(json::serialize(json::object{{"device_info", many}})),
              HasSubstr("more than 64"));
  const auto none = read_tt_smi(R"({"device_info": []})", "file");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->evidence.at(0).what, "tt-smi lists no devices");
}

// Takes keys out at random, or makes them null, or puts values there that say nothing. What pairs
// the chips stays: without it there are other boards, not bad ones.
void forget(json::value& value, std::mt19937& random) {
  if (auto* array = value.if_array()) {
    for (json::value& item : *array) forget(item, random);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  std::vector<std::string> keys;
  for (const auto& member : *object) keys.emplace_back(member.key());
  for (const std::string& key : keys) {
    if (key == "device_info" || key == "board_info" || key == "board_id" || key == "board_type" ||
        key == "bus_id") {
      forget(object->at(key), random);
      continue;
    }
    switch (random() % 8) {
      case 0:
        object->erase(key);
        break;
      case 1:
        object->at(key) = nullptr;
        break;
      case 2:
        object->at(key) = "N/A";
        break;
      case 3:
        object->at(key) = json::array{"foreign", 5};
        break;
      case 4:
        (*object)["new_" + key] = 1e300;
        break;
      default:
        forget(object->at(key), random);
    }
  }
}

TEST(TtSmi, AHealthyBoardIsNeverBadForWhatIsMissing) {
  constexpr unsigned seed = 11;
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    json::value snapshot = healthy();
    forget(snapshot, random);
    const Report report = read(snapshot);
    ASSERT_EQ(report.boards.size(), 1U) << "seed " << seed << ", round " << round;
    ASSERT_LE(report.boards[0].verdict, Verdict::unknown)
        << "seed " << seed << ", round " << round << ": " << report.boards[0].evidence.at(0).what;
  }
}

json::object entry(const std::string& bus_id, const std::string& type, int board,
                   const std::string& bundle) {
  json::value one = healthy();
  json::object made = device(one, 0);
  const std::string serial = fmt::format("10001451172{:04x}", board);
  made["smbus_telem"].as_object()["BOARD_ID"] = "0x" + serial;
  json::object& info = made["board_info"].as_object();
  info["bus_id"] = bus_id;
  info["board_type"] = type;
  info["board_id"] = serial;
  made["firmwares"].as_object()["fw_bundle_version"] = bundle;
  return made;
}

// A workstation with four N300: every L before every R, and R has no bus of its own. Its bundle is
// older than 18.3, which called itself 80.x.
TEST(TtSmi, AWorkstationWithFourBoards) {
  json::value snapshot = healthy();
  json::array devices;
  const std::array<std::string, 4> buses{"0000:c1:00.0", "0000:01:00.0", "0000:02:00.0",
                                         "0000:41:00.0"};
  for (int i = 0; i < 4; ++i) devices.push_back(entry(buses.at(i), "n300 L", i, "80.17.0.0"));
  for (int i = 0; i < 4; ++i) devices.push_back(entry("N/A", "n300 R", i, "80.17.0.0"));
  snapshot.as_object()["device_info"] = devices;
  const Report report = read(snapshot);
  ASSERT_EQ(report.boards.size(), 4U);
  std::set<std::string> serials;
  for (const Board& board : report.boards) {
    serials.insert(board.serial);
    EXPECT_EQ(board.chips.size(), 2U);
    EXPECT_EQ(board.verdict, Verdict::degraded) << board.serial;
    EXPECT_FALSE(board.bus_id.empty());
  }
  EXPECT_EQ(serials.size(), 4U);
  EXPECT_TRUE(report_from_json(to_json(report)));
}

// A Galaxy: 32 chips, a board each, narrow links.
TEST(TtSmi, AGalaxyOf32Chips) {
  json::value snapshot = healthy();
  json::array devices;
  for (int i = 0; i < 32; ++i) {
    devices.push_back(
        entry(fmt::format("0000:{:02x}:00.0", i + 1), "tt-galaxy-wh L", i, "18.6.0.0"));
    devices.back().as_object()["board_info"].as_object()["pcie_width"] = "1";
  }
  snapshot.as_object()["device_info"] = devices;
  const Report report = read(snapshot);
  ASSERT_EQ(report.boards.size(), 32U);
  for (const Board& board : report.boards) {
    EXPECT_EQ(board.chips.size(), 1U);
    EXPECT_EQ(board.verdict, Verdict::ok) << board.serial;
  }
  EXPECT_TRUE(report_from_json(to_json(report)));
}

}  // namespace
}  // namespace trainward::hwprobe
