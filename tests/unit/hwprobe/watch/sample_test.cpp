// A sample: read from a tree, carried as a line, made up for a described board.
#include "hwprobe/watch/sample.hpp"

#include <gmock/gmock.h>

#include "fake_host.hpp"
#include "hwprobe/accelerators/accelerators.hpp"
#include "hwprobe/described/described.hpp"
#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/watch/read_sample.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

class SampleTest : public FakeHost {
 protected:
  void put(const std::string& name, const std::string& text) const { write(device() + name, text); }
  void put_card() const {
    put("vendor", "0x1e52\n");
    put("hwmon/hwmon3/name", "wormhole\n");
    put("hwmon/hwmon3/temp1_input", "57250\n");
    put("hwmon/hwmon3/temp1_max", "75000\n");
    put("hwmon/hwmon3/in0_input", "725\n");
    put("hwmon/hwmon3/curr1_input", "15000\n");
    put("hwmon/hwmon3/power1_input", "12000000\n");
    put("hwmon/hwmon3/power1_max", "100000000\n");
    write(node() + "tt_aiclk", "1000\n");
    write(node() + "tt_heartbeat", "4711\n");
    put("aer_dev_correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
    put("aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n");
    put("aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 1\n");
  }
  Sample read() const {
    LiveFiles files(folder_, [](std::chrono::milliseconds) {});
    Sample sample = hwprobe::read_sample(files, "0000:c1:00.0");
    if (sample.present) tenstorrent().sample(files, "0000:c1:00.0", sample);
    return sample;
  }
};

TEST_F(SampleTest, EverythingTheKernelShows) {
  put_card();
  Sample expected;
  expected.board = "0000:c1:00.0";
  expected.temperature_c = 57.25;
  expected.limit_c = 75;
  expected.voltage_v = 0.725;
  expected.current_a = 15;
  expected.power_w = 12;
  expected.power_limit_w = 100;
  expected.clock_mhz = 1000;
  expected.heartbeat = 4711;
  expected.aer_correctable = 3;
  expected.aer_nonfatal = 0;
  expected.aer_fatal = 1;
  EXPECT_EQ(read(), expected);
  EXPECT_EQ(sample_from_json(to_json(expected)).value(), expected);
}

TEST_F(SampleTest, WhatCannotBeReadIsUnset) {
  EXPECT_FALSE(read().present);
  EXPECT_FALSE(says_something(read()));
  put("vendor", "0x1e52\n");
  EXPECT_TRUE(read().present);
  EXPECT_FALSE(says_something(read()));
  put("aer_dev_fatal", "TOTAL_ERR_FATAL\n");
  put("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 12x\n");
  put("aer_dev_correctable", "TOTAL_ERR_COR 99999999999999999999\n");
  put("hwmon/hwmon3/temp1_input", "warm\n");
  write(node() + "tt_aiclk", "\n");
  EXPECT_FALSE(says_something(read()));
  put("hwmon/hwmon3/temp1_input", "40000\n");
  put("hwmon/hwmon3/temp1_max", "0\n");
  EXPECT_EQ(read().temperature_c, 40);
  EXPECT_FALSE(read().limit_c.has_value());
}

TEST(SampleLine, ForeignLinesAreRefusedOrLeftOut) {
  const auto parsed = [](const char* text) {
    return sample_from_json(parse_json(text, "line").value());
  };
  for (const char* text : {"[]", "7", "{}", R"({"board": 7})", R"({"board": ""})"}) {
    EXPECT_FALSE(parsed(text).has_value()) << text;
  }
  EXPECT_FALSE(sample_from_json(json::object{{"board", std::string(65, 'x')}}).has_value());
  const auto odd = parsed(R"({"board": "b", "temperature_c": 1e300, "power_w": "9",
                             "clock_mhz": -5, "heartbeat": 1.5, "more": [1]})");
  ASSERT_TRUE(odd.has_value());
  EXPECT_FALSE(says_something(*odd));
  EXPECT_TRUE(odd->present);
  EXPECT_FALSE(parsed(R"({"board": "b", "present": false})")->present);
}

class DescribedSample : public FakeHost {
 protected:
  DescribedBoard board(const std::string& more) const {
    const auto file = write("host.yaml",
                            "boards:\n  - serial: \"0100014511708037\"\n"
                            "    chips: [{id: L, temperature_c: 57, limit_c: 80}]\n" +
                                more);
    auto boards = read_described(file);
    EXPECT_TRUE(boards.has_value()) << boards.error().message();
    return boards->at(0);
  }
};

TEST_F(DescribedSample, IsSteadyWithoutParts) {
  const DescribedBoard steady = board("");
  const Sample first = described_sample(steady, 0);
  EXPECT_EQ(first.board, "0100014511708037");
  EXPECT_EQ(first.temperature_c, 57);
  EXPECT_EQ(first.limit_c, 80);
  EXPECT_EQ(first.clock_mhz, 1000);
  Sample later = described_sample(steady, 1'000'000'000);
  EXPECT_GT(later.heartbeat, first.heartbeat);
  later.heartbeat = first.heartbeat;
  EXPECT_EQ(later, first);
}

TEST_F(DescribedSample, GoesThroughItsPartsAndStaysInTheLast) {
  const DescribedBoard parts = board(
      "    watch:\n"
      "      - {samples: 2, temperature_c: 60, aer_correctable: 3}\n"
      "      - {clock_mhz: 500, heartbeat: frozen, power_w: 99}\n"
      "      - {temperature_c: 81, aer_fatal: 1, aer_nonfatal: 2}\n");
  EXPECT_EQ(described_sample(parts, 1).temperature_c, 60);
  EXPECT_EQ(described_sample(parts, 1).aer_correctable, 6);
  const Sample second = described_sample(parts, 2);
  EXPECT_EQ(second.temperature_c, 57);
  EXPECT_EQ(second.clock_mhz, 500);
  EXPECT_EQ(second.power_w, 99);
  EXPECT_EQ(second.heartbeat, described_sample(parts, 1).heartbeat);
  const Sample late = described_sample(parts, 12);
  EXPECT_EQ(late.temperature_c, 81);
  EXPECT_EQ(late.aer_correctable, 6);
  EXPECT_EQ(late.aer_fatal, 10);
  EXPECT_EQ(late.aer_nonfatal, 20);
  EXPECT_GT(late.heartbeat, second.heartbeat);
}

TEST_F(DescribedSample, BadPartsAreSaidWithTheirPlace) {
  const auto file = write("host.yaml",
                          "boards:\n  - serial: \"0100014511708037\"\n"
                          "    watch: [{samples: 0}, {clock: 7}]\n");
  const auto boards = read_described(file);
  ASSERT_FALSE(boards.has_value());
  EXPECT_THAT(boards.error().message(), HasSubstr("host.yaml:3:"));
}

}  // namespace
}  // namespace trainward::hwprobe
