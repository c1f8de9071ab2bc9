#include "trainer/n300_sim/chip_memory.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trainward::n300 {
namespace {

TEST(ChipMemory, ABufferTakesWholePagesOfEveryBank) {
  ChipMemory chip(ChipMemory::banks * 8192, 0);
  ASSERT_TRUE(chip.take(1));
  EXPECT_EQ(chip.used_bytes(), 12U * 2048);
  ASSERT_TRUE(chip.take(12 * 2048 + 1));
  EXPECT_EQ(chip.used_bytes(), 12U * 2048 * 3);
  ASSERT_TRUE(chip.take(0));
  EXPECT_EQ(chip.used_bytes(), 12U * 2048 * 3);
  EXPECT_TRUE(chip.take(12 * 2048)) << "to the last page";
  EXPECT_FALSE(chip.take(1));
  chip.give(12 * 2048 + 1);
  EXPECT_TRUE(chip.take(12 * 4096));
}

TEST(ChipMemory, TheRefusalIsTheSentenceOfTheRealAllocator) {
  ChipMemory chip(std::uint64_t{12} * 1'071'820'800, std::uint64_t{12} * 800'000'000);
  const Status refused = chip.take(3'294'625'792);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_EQ(refused.error().what,
            "Out of Memory: Not enough space to allocate 3294625792 B DRAM buffer across 12 banks, "
            "where each bank needs to store 274552832 B, but bank size is 1071820800 B (allocated: "
            "800000000 B, free: 271820800 B, largest free block: 271820800 B)");
}

TEST(ChipMemory, WhatDoesNotFitTakesNothing) {
  ChipMemory small(1000, 5000);
  EXPECT_FALSE(small.take(1)) << "a base beyond the end";
  ChipMemory chip(std::uint64_t{12} << 30, 0);
  EXPECT_FALSE(chip.take(UINT64_MAX));
  EXPECT_EQ(chip.used_bytes(), 0U);
}

TEST(ChipMemory, EverythingGivenBackIsFree) {
  std::mt19937_64 draw(7);
  ChipMemory chip(std::uint64_t{1} << 30, 0);
  std::vector<std::uint64_t> held;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bytes = draw() % (std::uint64_t{64} << 20);
    if (draw() % 2 == 0 && chip.take(bytes)) held.push_back(bytes);
    EXPECT_LE(chip.used_bytes(), chip.capacity());
    if (draw() % 3 == 0 && !held.empty()) {
      chip.give(held.back());
      held.pop_back();
    }
  }
  for (const std::uint64_t bytes : held) chip.give(bytes);
  EXPECT_EQ(chip.used_bytes(), 0U);
}

}  // namespace
}  // namespace trainward::n300
