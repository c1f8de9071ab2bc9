// A log is read once, whatever rotation does to it.
#include "supervisor/daemon/attempt/log_tail.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class LogTailTest : public testing::Test {
 protected:
  void append(const std::string& text) { std::ofstream(log(), std::ios::app) << text; }
  // As a writer does it: LOG.1 becomes LOG.2, LOG becomes LOG.1.
  void rotate(int keep = 9) {
    std::filesystem::remove(name(keep));
    for (int i = keep; i > 0; --i) {
      if (std::filesystem::exists(name(i - 1))) std::filesystem::rename(name(i - 1), name(i));
    }
  }
  std::filesystem::path name(int number) const {
    return log().string() + (number == 0 ? "" : "." + std::to_string(number));
  }
  std::filesystem::path log() const { return folder_.path() / "stdout.log"; }
  std::string all(LogTail& tail) const {
    std::string out;
    for (std::string bytes = tail.read(3); !bytes.empty(); bytes = tail.read(3)) out += bytes;
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(LogTailTest, ReadsWhatIsAdded) {
  LogTail tail(log());
  EXPECT_EQ(all(tail), "");
  append("one");
  EXPECT_EQ(all(tail), "one");
  append("two three");
  EXPECT_EQ(all(tail), "two three");
  EXPECT_EQ(all(tail), "");
}

TEST_F(LogTailTest, TheRestOfTheOldFileComesFirst) {
  LogTail tail(log());
  append("a1");
  EXPECT_EQ(all(tail), "a1");
  append("a2");
  rotate();
  EXPECT_EQ(all(tail), "a2") << "the new file is not there yet";
  append("b1");
  EXPECT_EQ(all(tail), "b1");
  append("b2");
  rotate();
  append("c1");
  rotate();
  append("d1");
  EXPECT_EQ(all(tail), "b2c1d1") << "two rotations between two looks";
}

TEST_F(LogTailTest, BeginsWithTheOldest) {
  append("a");
  rotate();
  append("b");
  rotate();
  append("c");
  LogTail tail(log());
  EXPECT_EQ(all(tail), "abc");
}

TEST_F(LogTailTest, WhatWasDeletedIsSkipped) {
  LogTail tail(log());
  append("a");
  EXPECT_EQ(all(tail), "a");
  for (const char* text : {"b", "c", "d"}) {
    rotate(1);
    append(text);
  }
  EXPECT_EQ(all(tail), "cd");
}

TEST_F(LogTailTest, EmptiedInPlaceItBeginsAnew) {
  LogTail tail(log());
  append("a long first part");
  EXPECT_EQ(all(tail), "a long first part");
  std::filesystem::resize_file(log(), 0);
  append("b");
  EXPECT_EQ(all(tail), "b");
}

}  // namespace
}  // namespace trainward::daemon
