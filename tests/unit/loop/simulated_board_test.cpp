#include "trainer/sim/simulated_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

std::int64_t steps_that_fit(BoardScript script) {
  SimulatedBoard board(script, 1);
  std::int64_t steps = 0;
  while (steps < 1000 && board.begin_step()) ++steps;
  return steps;
}

TEST(SimulatedBoardTest, RunsOutOfMemoryExactlyWhereTheArithmeticSays) {
  EXPECT_EQ(steps_that_fit({.dram_bytes = 1000, .base_bytes = 100, .leak_bytes_per_step = 90}), 10);
  EXPECT_EQ(steps_that_fit({.dram_bytes = 999, .base_bytes = 100, .leak_bytes_per_step = 90}), 9);
  EXPECT_EQ(steps_that_fit({.dram_bytes = 1000, .base_bytes = 1001}), 0);
  EXPECT_EQ(steps_that_fit({.dram_bytes = 1000, .base_bytes = 1000}), 1000);
  constexpr std::uint64_t mib = 1024 * 1024;
  EXPECT_EQ(steps_that_fit({.base_bytes = 8192 * mib, .leak_bytes_per_step = 640 * mib}), 25);
}

TEST(SimulatedBoardTest, KeepsAnAccountAndStaysFull) {
  SimulatedBoard board({.dram_bytes = 100, .base_bytes = 10, .leak_bytes_per_step = 40}, 1);
  EXPECT_EQ(board.used_bytes(), 10U);
  ASSERT_TRUE(board.begin_step());
  ASSERT_TRUE(board.begin_step());
  EXPECT_EQ(board.used_bytes(), 90U);
  EXPECT_FALSE(board.begin_step());
  EXPECT_FALSE(board.begin_step());
  EXPECT_EQ(board.used_bytes(), 90U);
}

TEST(SimulatedBoardTest, SaysWhatTheRealAllocatorSays) {
  const std::uint64_t gib = std::uint64_t{1} << 30;
  SimulatedBoard board(
      {.dram_bytes = 24 * gib, .base_bytes = 23 * gib, .leak_bytes_per_step = 2 * gib}, 1);
  auto answer = board.begin_step();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::transient);
  EXPECT_THAT(answer.error().what,
              HasSubstr("Out of Memory: Not enough space to allocate 1073741824 B DRAM buffer "
                        "across 12 banks, where each bank needs to store 89479168 B, but bank "
                        "size is 1073741824 B"));
  const std::string printed = as_the_device_prints_it(answer.error().what);
  EXPECT_THAT(printed, HasSubstr("{TT_FATAL @ "));
  EXPECT_THAT(printed, HasSubstr("\ninfo:\nOut of Memory: Not enough space"));
  EXPECT_THAT(printed, testing::EndsWith("INTERNAL: Error code: 13\n"));
}

TEST(SimulatedBoardTest, HangsInItsAttemptAfterItsSteps) {
  const BoardScript script{.hang = BoardScript::Hang{.attempt = 5, .after_steps = 2}};
  SimulatedBoard fifth(script, 5);
  EXPECT_EQ(fifth.begin_step().value(), BoardAnswer::ready);
  EXPECT_EQ(fifth.begin_step().value(), BoardAnswer::ready);
  EXPECT_EQ(fifth.begin_step().value(), BoardAnswer::hangs);
  SimulatedBoard sixth(script, 6);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(sixth.begin_step().value(), BoardAnswer::ready);
}

}  // namespace
}  // namespace trainward::trainer
