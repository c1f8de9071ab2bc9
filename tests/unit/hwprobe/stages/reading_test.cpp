#include "hwprobe/stages/reading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace trainward::hwprobe {
namespace {

TEST(Readings, LookLikeThis) {
  EXPECT_EQ(format({"config 0x0", "0x401e1e52", ""}), "config 0x0 = 0x401e1e52");
  EXPECT_EQ(format({"file /sys/a", "57000\n", ""}), "file /sys/a = 57000\\n");
  EXPECT_EQ(format({"file /sys/tenstorrent!0/tt_serial", "", "ENODATA"}),
            "file /sys/tenstorrent!0/tt_serial ! ENODATA");
  EXPECT_EQ(format({"list /a", "", ""}), "list /a = ");
  EXPECT_EQ(format({"file /a = b", "x", ""}), "file /a \\u003d b = x");
}

TEST(Readings, AnEmptyValueMayHaveLostItsSpace) {
  EXPECT_EQ(parse_reading("list /a ="), (Reading{"list /a", "", ""}));
}

TEST(Readings, WhatIsNoReadingIsRefused) {
  for (const char* line : {"",
                           " ",
                           "=",
                           " = ",
                           " = x",
                           "# trainward-probe recording 1",
                           "file /a",
                           "file /a=b",
                           "file /a ! no such file",
                           "file /a ! ",
                           "file /a !",
                           "file /a ! ENODATAENODATAENO",
                           "file \\u00 = x",
                           "file \\ = x",
                           "file /a = \"",
                           "file /a = \\x",
                           "file /a = x\\",
                           "file /a = \xff",
                           "file /a = \x1b[2J",
                           "file \t = x"}) {
    EXPECT_FALSE(parse_reading(line)) << line;
  }
  EXPECT_FALSE(parse_reading("file /a = " + std::string(100'000, 'x')));
}

TEST(Readings, AnyTextReadsBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> pieces{"=", "!", " ", "\\", "\"",   "\n",   "\r",   "\t", "a",
                                        "Z", "0", "#", "ä",  "\x01", "\x1f", "\x7f", "/",  "u003d"};
  const auto text = [&](std::size_t least) {
    std::string out;
    const std::size_t length = least + random() % 12;
    for (std::size_t i = 0; i < length; ++i) out += pieces[random() % pieces.size()];
    return out;
  };
  for (int i = 0; i < 5000; ++i) {
    const Reading reading{"file " + text(0), text(0), ""};
    const std::string line = format(reading);
    EXPECT_EQ(line.find_first_of("\r\n"), std::string::npos);
    EXPECT_EQ(parse_reading(line), reading) << line;
    const Reading failed{"file " + text(0), "", "EIO"};
    EXPECT_EQ(parse_reading(format(failed)), failed) << format(failed);
  }
}

TEST(Readings, BytesThatAreNoTextStayOneLine) {
  const auto reading = parse_reading(format({"file /a", "\xff\xfe\x00z", ""}));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->value, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace trainward::hwprobe
