// After the first step a step leaves nothing behind on the heap.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "model/tiny.hpp"

namespace {

std::atomic<std::int64_t> live_blocks{0};
std::atomic<std::int64_t> live_bytes{0};

void* counted(std::size_t size) {
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) std::abort();
  live_blocks += 1;
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(block));
  return block;
}
void released(void* block) {
  if (block == nullptr) return;
  live_blocks -= 1;
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* block, const std::nothrow_t&) noexcept { released(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { released(block); }
void operator delete(void* block) noexcept { released(block); }
void operator delete[](void* block) noexcept { released(block); }
void operator delete(void* block, std::size_t) noexcept { released(block); }
void operator delete[](void* block, std::size_t) noexcept { released(block); }

namespace trainward::trainer {
namespace {

TEST(Allocation, StepsAfterTheFirstKeepNothing) {
  for (const graph::Precision precision : {graph::Precision::f32, graph::Precision::bf16}) {
    TrainingSpec spec = test::tiny_spec();
    spec.precision = precision;
    const auto model = test::make(spec);
    const std::vector<std::int32_t> tokens = test::tokens(spec, 1);
    ASSERT_TRUE(model->step(tokens));
    const std::int64_t blocks = live_blocks;
    const std::int64_t bytes = live_bytes;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(model->step(tokens));
    EXPECT_EQ(live_blocks, blocks);
    EXPECT_EQ(live_bytes, bytes);
  }
}

}  // namespace
}  // namespace trainward::trainer
