#include "trainer/n300_sim/block_pool.hpp"

#include <gtest/gtest.h>

namespace trainward::n300 {
namespace {

TEST(BlockPool, ABlockOfTheSameSizeIsUsedAgain) {
  BlockPool pool;
  auto first = pool.take(std::size_t{3} << 20);
  ASSERT_TRUE(first);
  const std::byte* at = first->data();
  pool.give(*std::move(first));
  EXPECT_EQ(pool.used_bytes(), 0U);
  auto second = pool.take((std::size_t{3} << 20) + 100);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->data(), at) << "both are two large pages";
  EXPECT_EQ(pool.idle_bytes(), 0U);
  auto other = pool.take(100);
  ASSERT_TRUE(other);
  EXPECT_GE(other->size(), 100U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other->data()) % cpu::alignment, 0U);
}

TEST(BlockPool, KeepsNoMoreIdleThanWasEverInUse) {
  BlockPool pool;
  for (std::size_t size = 1; size < 200; ++size) {
    auto block = pool.take(size * 1024);
    ASSERT_TRUE(block);
    pool.give(*std::move(block));
    EXPECT_LE(pool.idle_bytes(), size * 1024);
  }
}

TEST(BlockPool, NothingIsABlockToo) {
  BlockPool pool;
  auto none = pool.take(0);
  ASSERT_TRUE(none);
  pool.give(*std::move(none));
  EXPECT_EQ(pool.idle_bytes(), 0U);
}

}  // namespace
}  // namespace trainward::n300
