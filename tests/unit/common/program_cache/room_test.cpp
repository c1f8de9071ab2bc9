#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/os/clock.hpp"
#include "common/program_cache/program_cache.hpp"
#include "support.hpp"

namespace trainward::program_cache {
namespace {

using ::testing::HasSubstr;
using testing::info;
using ::testing::IsEmpty;
using testing::key;
using testing::names_in;
using testing::program;
using ::testing::SizeIs;
using namespace std::chrono_literals;

std::uint64_t bytes_in(const ProgramCache& cache) {
  std::uint64_t bytes = 0;
  const std::vector<ProgramEntry> listed = *cache.list();
  for (const ProgramEntry& entry : listed) bytes += entry.bytes;
  return bytes;
}

class ProgramRoom : public ::testing::Test {
 protected:
  // Three programs of about 10 kB, the first used the longest ago.
  void SetUp() override {
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(cache_.put(key(i), program(i, 10'000), info));
      testing::age(folder_.path(), key(i), 10h - i * 1h);
    }
  }
  bool has(int number) {
    return std::filesystem::exists(folder_.path() / (key(number) + ".program"));
  }

  TemporaryFolder folder_;
  ProgramCache cache_ = testing::open(folder_.path(), 35'000);
};

TEST_F(ProgramRoom, TheLeastRecentlyUsedMakesRoom) {
  ASSERT_TRUE(*cache_.find(key(1)));
  ASSERT_TRUE(cache_.put(key(4), program(4, 10'000), info));
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_TRUE(has(3));
  EXPECT_TRUE(has(4));
  EXPECT_LE(bytes_in(cache_), cache_.limit_bytes());
  ASSERT_TRUE(cache_.put(key(5), program(5, 24'000), info));
  EXPECT_LE(bytes_in(cache_), cache_.limit_bytes());
  EXPECT_TRUE(has(5));
  EXPECT_TRUE(has(4));
  EXPECT_FALSE(has(3));
}

TEST_F(ProgramRoom, AReplacedOneIsNotCountedTwice) {
  ASSERT_TRUE(cache_.put(key(2), program(2, 12'000), info));
  EXPECT_TRUE(has(1) && has(2) && has(3));
}

TEST_F(ProgramRoom, WhatIsHeldStays) {
  auto held = cache_.lock(key(1));
  ASSERT_TRUE(held);
  ASSERT_TRUE(cache_.put(key(4), program(4, 10'000), info));
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  auto third = cache_.lock(key(3));
  auto fourth = cache_.lock(key(4));
  auto put = cache_.put(key(5), program(5, 10'000), info);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().kind, ErrorKind::transient);
  EXPECT_THAT(put.error().message(), HasSubstr("in use"));
  EXPECT_TRUE(has(1) && has(3) && has(4));
}

TEST_F(ProgramRoom, OneThatNeverFitsCostsNobodyItsPlace) {
  auto put = cache_.put(key(4), program(4, 40'000), info);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().kind, ErrorKind::permanent);
  EXPECT_THAT(put.error().message(), HasSubstr("cache_limit"));
  EXPECT_TRUE(has(1) && has(2) && has(3));
}

TEST_F(ProgramRoom, PruneByBytesAndByAge) {
  auto by_age = cache_.prune(ProgramCache::no_limit, now().wall.ms - 8 * 3'600'000 - 1'800'000);
  ASSERT_TRUE(by_age);
  ASSERT_THAT(by_age->removed, SizeIs(1));
  EXPECT_EQ(by_age->removed[0].key, key(1));
  EXPECT_EQ(by_age->removed[0].info, info);
  auto held = cache_.lock(key(2));
  auto by_bytes = cache_.prune(5'000);
  ASSERT_TRUE(by_bytes);
  ASSERT_THAT(by_bytes->in_use, SizeIs(1));
  EXPECT_EQ(by_bytes->in_use[0].key, key(2));
  ASSERT_THAT(by_bytes->removed, SizeIs(1));
  EXPECT_EQ(by_bytes->removed[0].key, key(3));
  EXPECT_EQ(by_bytes->bytes_left, bytes_in(cache_));
}

TEST_F(ProgramRoom, ClearLeavesNothing) {
  ASSERT_TRUE(cache_.remember_loads(key(9), false, "tt"));
  auto cleared = cache_.clear();
  ASSERT_TRUE(cleared);
  EXPECT_THAT(cleared->removed, SizeIs(3));
  EXPECT_EQ(cleared->bytes_left, 0U);
  EXPECT_THAT(names_in(folder_.path()), IsEmpty());
}

TEST_F(ProgramRoom, VerifyReadsEveryByteAndListDoesNot) {
  const auto file = folder_.path() / (key(2) + ".program");
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(5000).put('!');
  const std::vector<ProgramEntry> listed = *cache_.list();
  const std::vector<ProgramEntry> verified = *cache_.verify();
  for (const ProgramEntry& entry : listed) EXPECT_EQ(entry.problem, "");
  for (const ProgramEntry& entry : verified) {
    EXPECT_EQ(entry.problem.empty(), entry.key != key(2)) << entry.problem;
  }
  EXPECT_TRUE(has(2)) << "looking removes nothing";
}

TEST_F(ProgramRoom, WhatIsNotOursIsLeftAlone) {
  std::ofstream(folder_.path() / "notes.txt") << "mine";
  std::ofstream(folder_.path() / "x.program") << "mine";
  ASSERT_TRUE(cache_.clear());
  EXPECT_THAT(names_in(folder_.path()), SizeIs(2));
}

}  // namespace
}  // namespace trainward::program_cache
