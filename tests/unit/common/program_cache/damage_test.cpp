// Whatever happens to the bytes on the disk: what find() gives is what put() was given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "common/os/file.hpp"
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

class ProgramDamage : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const {
    return folder_.path() / (key(1) + ".program");
  }

  // What find() says of a file with these bytes; it must be gone afterwards.
  std::string dropped_for(const std::string& bytes) {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
    std::string listed;
    auto verified = cache_.verify();
    if (verified && verified->size() == 1) listed = verified->front().problem;
    std::string dropped;
    auto found = cache_.find(key(1), &dropped);
    EXPECT_TRUE(found) << found.error().message();
    EXPECT_FALSE(found && *found);
    EXPECT_EQ(listed, dropped);
    EXPECT_THAT(names_in(folder_.path()), IsEmpty());
    return dropped;
  }

  std::string whole_file(std::size_t bytes) {
    EXPECT_TRUE(cache_.put(key(1), program(1, bytes), info));
    return *read_file(file(), 10U << 20U);
  }

  TemporaryFolder folder_;
  ProgramCache cache_ = testing::open(folder_.path(), 1U << 20U);
};

TEST_F(ProgramDamage, EveryBitOfASmallOne) {
  const std::string whole = whole_file(50);
  for (std::size_t i = 0; i < whole.size() * 8; ++i) {
    std::string bytes = whole;
    bytes[i / 8] = static_cast<char>(bytes[i / 8] ^ (1 << (i % 8)));
    EXPECT_NE(dropped_for(bytes), "") << "bit " << i;
  }
}

TEST_F(ProgramDamage, EveryLength) {
  const std::string whole = whole_file(50);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(dropped_for(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(dropped_for(whole + "x"), HasSubstr("the file has"));
}

TEST_F(ProgramDamage, RandomBytesOfALargeOne) {
  const std::string whole = whole_file(300'000);
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    EXPECT_NE(dropped_for(bytes), "");
  }
}

TEST_F(ProgramDamage, SaysWhatIsWrong) {
  const std::string whole = whole_file(50);
  EXPECT_THAT(dropped_for("short"), HasSubstr("cut short: 5 bytes"));
  EXPECT_THAT(dropped_for(std::string(500, 'x')), HasSubstr("not a compiled program"));
  std::string newer = whole;
  newer[8] = 2;
  EXPECT_THAT(dropped_for(newer), HasSubstr("version 2"));
  std::string flipped = whole;
  flipped[flipped.size() - 70] ^= 1;
  EXPECT_THAT(dropped_for(flipped), HasSubstr("do not match their checksum"));
  std::string vast = whole;
  for (int i = 16; i < 24; ++i) vast[i] = '\xff';
  EXPECT_THAT(dropped_for(vast), HasSubstr("says it has"));
}

TEST_F(ProgramDamage, AProgramUnderAnotherKey) {
  ASSERT_TRUE(cache_.put(key(2), "two", info));
  std::filesystem::rename(folder_.path() / (key(2) + ".program"), file());
  std::string dropped;
  EXPECT_FALSE(*cache_.find(key(1), &dropped));
  EXPECT_THAT(dropped, HasSubstr("another key"));
}

// A file with a hole may claim any size.
TEST_F(ProgramDamage, NoMemoryForWhatTheCacheCannotHold) {
  std::ofstream(file(), std::ios::binary) << "x";
  std::filesystem::resize_file(file(), std::uint64_t{1} << 40U);
  std::string dropped;
  EXPECT_FALSE(*cache_.find(key(1), &dropped));
  EXPECT_THAT(dropped, HasSubstr("more than the cache may hold"));
}

TEST_F(ProgramDamage, WhatIsNoFileIsNotRead) {
  const std::filesystem::path secret = folder_.path() / "secret";
  std::ofstream(secret) << "secret";
  std::filesystem::create_symlink(secret, file());
  std::string dropped;
  EXPECT_FALSE(cache_.find(key(1), &dropped).value());
  EXPECT_THAT(dropped, HasSubstr("is a symbolic link"));
  EXPECT_TRUE(std::filesystem::exists(secret));
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_FALSE(cache_.find(key(1), &dropped).value());
  EXPECT_THAT(dropped, HasSubstr("is a pipe, not a file"));
  std::filesystem::create_directory(file());
  const auto folder = cache_.find(key(1), &dropped);
  ASSERT_FALSE(folder) << "it cannot be removed like a file";
  EXPECT_THAT(folder.error().what, HasSubstr("is a folder, not a file"));
  EXPECT_FALSE(cache_.put(key(1), "bytes", info)) << "it cannot be replaced either";
  EXPECT_EQ(cache_.verify()->size(), 1U);
}

}  // namespace
}  // namespace trainward::program_cache
