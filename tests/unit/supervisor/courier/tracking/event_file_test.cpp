// The bytes of event files: against those that protobuf's own compiler and library make of
// TensorBoard's definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "supervisor/courier/tracking/tensorboard/crc32c.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_event.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_record.hpp"

namespace trainward::tracking {
namespace {

constexpr std::int64_t at_ms = 1'763'675'000'500;

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

TEST(EventFile, Checksums) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(masked(crc32c("\x1a\x11"
                          "CRC test, one two")),
            0x5794d08aU);
}

TEST(EventFile, BytesOfEveryKindOfRecord) {
  EventFile file;
  file.version(at_ms);
  EXPECT_EQ(hex(file.take()),
            "2500000000000000eabc36f309000020dee247da411a0d627261696e2e4576656e743a32520b0a09747261"
            "696e77617264d3e0f0da");
  file.start(at_ms, 81);
  EXPECT_EQ(hex(file.take()), "0f000000000000006d532b0909000020dee247da4110513a02080140097c3c");
  file.add({300,
            at_ms + 750,
            {{"train/loss", 2.5}, {"eval/loss", std::numeric_limits<double>::quiet_NaN()}},
            {{"attempt/verdict", "**done**"}}});
  EXPECT_EQ(hex(file.take()),
            "8400000000000000411d8aef09000050dee247da4110ac022a760a200a0a747261696e2f6c6f7373150000"
            "20404a0d0a090a077363616c61727320010a1f0a096576616c2f6c6f7373150000c07f4a0d0a090a077363"
            "616c61727320010a310a0f617474656d70742f766572646963744212080712041202080142082a2a646f6e"
            "652a2a4a0a0a060a047465787420026ebecbbe");
  file.add({301, at_ms + 1500, {{"train/loss", -0.125}}});
  EXPECT_EQ(hex(file.take()),
            "2100000000000000017becf609000080dee247da4110ad022a130a110a0a747261696e2f6c6f7373150000"
            "00bede520554")
      << "what a tag is, is said once";
  file.hparams(at_ms, 0, "trainer", {{"lr", 0.5}});
  EXPECT_EQ(hex(file.take()),
            "6700000000000000baadcdd409000020dee247da412a5c0a5a0a1c5f68706172616d735f2f73657373696f"
            "6e5f73746172745f696e666f4204080112004a340a300a0768706172616d7312251a230a0f0a026c721209"
            "11000000000000e03f2207747261696e657229000020dee247da412002079ae08e");
  file.hparams_end(at_ms + 2500, 301, true);
  EXPECT_EQ(hex(file.take()),
            "5000000000000000940f9b82090000c0dee247da4110ad022a420a400a1a5f68706172616d735f2f736573"
            "73696f6e5f656e645f696e666f4204080112004a1c0a180a0768706172616d73120d220b0801110000c0de"
            "e247da412002ef133e9a");
  file.stop(at_ms + 2500, 301);
  EXPECT_EQ(hex(file.take()), "100000000000000095fbfe18090000c0dee247da4110ad023a0208026bdf7655");
}

TEST(EventFile, RecordsAreFoundAgainAndNothingElseIs) {
  std::string bytes;
  append_record(bytes, "one");
  const std::size_t size = bytes.size();
  append_record(bytes, "");
  const auto record = first_record(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->data, "one");
  EXPECT_EQ(record->size, size);
  for (std::size_t cut = 0; cut < size; ++cut) EXPECT_FALSE(first_record(bytes.substr(0, cut)));
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    std::string wrong = bytes.substr(0, size);
    wrong[bit / 8] = static_cast<char>(static_cast<unsigned char>(wrong[bit / 8]) ^ 1U << bit % 8);
    EXPECT_FALSE(first_record(wrong)) << "bit " << bit;
  }
  EXPECT_FALSE(first_record(std::string(64, '\0')));
}

TEST(EventFile, AnEventIsReadBack) {
  EventFile file;
  file.add({1'000'000'000'000, at_ms, {{"train/loss", 1}, {"board/1/temperature_c", 60}}, {}});
  const std::string bytes = file.take();
  const auto event = seen_event(first_record(bytes)->data);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->step, 1'000'000'000'000);
  EXPECT_EQ(event->at_ms, at_ms);
  EXPECT_EQ(event->tags, (std::vector<std::string>{"train/loss", "board/1/temperature_c"}));
  EXPECT_FALSE(event->starts);
  file.start(at_ms, 7);
  file.stop(at_ms, 8);
  const std::string log = file.take();
  const auto start = first_record(log);
  EXPECT_TRUE(seen_event(start->data)->starts);
  EXPECT_TRUE(seen_event(first_record(std::string_view(log).substr(start->size))->data)->stops);
}

TEST(EventFile, WhatIsNoEventNeverReadsBeyondIt) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string noise(random() % 40, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    (void)seen_event(noise);
    (void)first_record(noise);
  }
}

}  // namespace
}  // namespace trainward::tracking
