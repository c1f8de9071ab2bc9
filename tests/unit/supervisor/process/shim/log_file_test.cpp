// One stream's files: where they are cut, and what a disk that refuses costs.

#include "supervisor/process/shim/disk/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "common/os/file.hpp"
#include "common/wire/log_files.hpp"
#include "held_folder.hpp"
#include "temporary_folder.hpp"

namespace trainward::shim {
namespace {

class LogFileTest : public ::testing::Test {
 protected:
  std::string text(int number) {
    return read_file(number == 0 ? file_ : rotated_log(file_, number), 64 << 20).value_or("");
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "stdout.log";
};

TEST_F(LogFileTest, ALineIsNeverSplitWhereverTheChunksEnd) {
  std::string whole;
  for (int i = 0; i < 80; ++i) whole += std::string(static_cast<std::size_t>(i % 37), 'x') + "\n";
  for (const std::size_t chunk : {1U, 3U, 10U, 64U, 1000U}) {
    for (const std::int64_t limit : {1, 20, 50, 333}) {
      const TemporaryFolder folder;
      const auto file = folder.path() / "log";
      auto log = LogFile::open(held(folder.path()), "log", limit, 1000).value();
      for (std::size_t at = 0; at < whole.size(); at += chunk) {
        log.write(std::string_view(whole).substr(at, chunk), 0);
      }
      std::string joined;
      for (int number = static_cast<int>(log.rotations()); number >= 0; --number) {
        const auto path = number == 0 ? file : rotated_log(file, number);
        const std::string part = read_file(path, 1 << 20).value();
        EXPECT_TRUE(part.empty() || part.back() == '\n');
        EXPECT_LE(part.size(), static_cast<std::size_t>(limit) + 37);  // the longest line
        joined += part;
      }
      ASSERT_EQ(joined, whole) << "chunks of " << chunk << ", limit " << limit;
      EXPECT_EQ(read_log(file, 0, 1 << 20)->bytes, whole);
    }
  }
}

TEST_F(LogFileTest, OnlyALineBeyondOneMebibyteIsCut) {
  auto log = LogFile::open(held(folder_.path()), "stdout.log", 100, 10).value();
  const std::string line(900'000, 'a');
  log.write(line, 0);
  log.write("\nnext\n", 0);
  EXPECT_EQ(text(1), line + "\n");
  EXPECT_EQ(text(0), "next\n");
  const std::string monster(3'000'000, 'b');
  log.write(monster, 0);
  log.write("\n", 0);
  EXPECT_GT(log.rotations(), 2);
  EXPECT_EQ(read_log(file_, 900'006, 1 << 23)->bytes, monster + "\n");
}

TEST_F(LogFileTest, AnOffsetIsTheSameAfterTheWriterDiedBetweenTwoRenames) {
  auto log = LogFile::open(held(folder_.path()), "stdout.log", 4, 10).value();
  for (const char* line : {"aaa\n", "bbb\n", "ccc\n"}) log.write(line, 0);
  EXPECT_EQ(read_log(file_, 4, 4)->bytes, "bbb\n");
  // As far as "current file renamed", but no new one: the reader has nothing newer to show.
  std::filesystem::rename(rotated_log(file_, 2), rotated_log(file_, 3));
  std::filesystem::rename(rotated_log(file_, 1), rotated_log(file_, 2));
  std::filesystem::copy_file(file_, rotated_log(file_, 1));
  std::filesystem::remove(rotated_log(file_, 3));
  EXPECT_EQ(read_log(file_, 4, 4)->bytes, "bbb\n");
}

TEST_F(LogFileTest, WhatTheDiskRefusesIsDroppedInWholeLinesCountedAndNamed) {
  auto log = LogFile::open(held(folder_.path()), "stdout.log", 1 << 20, 3).value();
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto* handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  log.write("1\n22\n333\n44", 0);  // the limit falls into the third line
  log.write("44\n5", 10);
  log.write("5\n", 20);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  log.write("66\n", 50);  // too soon for another try
  log.write("77\n", 1000);
  EXPECT_EQ(text(0), "1\n22\n" + drop_notice({15, 4}, "File too large") + "77\n");
  EXPECT_EQ(log.dropped().bytes, 15U);
  EXPECT_EQ(log.dropped().lines, 4U);
}

}  // namespace
}  // namespace trainward::shim
