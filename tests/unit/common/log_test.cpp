// What the daemon's own log shows of other people's words.
#include "common/os/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "common/base/text.hpp"

namespace trainward {
namespace {

TEST(Log, AMessageIsOneLineThatATerminalDoesNotObey) {
  const auto before = spdlog::default_logger();
  testing::internal::CaptureStderr();
  set_up_logging("test", LogTarget::standard_error, "info");
  spdlog::info("checkpoint: {}",
               "/c/\x1b]0;title\x07\x1b[2J\xc2\x9b"
               "31m\nforged: line");
  const std::string said = testing::internal::GetCapturedStderr();
  spdlog::set_default_logger(before);
  EXPECT_NE(said.find("info: checkpoint: /c/?]0;title??[2J?31m forged: line\n"), std::string::npos)
      << said;
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

TEST(Log, TheNewestStaysInMemoryInWholeLines) {
  const auto before = spdlog::default_logger();
  EXPECT_EQ(recent_log(0, 100).end, 0) << "not set up";
  testing::internal::CaptureStderr();
  set_up_logging("test", LogTarget::standard_error, "info");
  spdlog::info("first");
  const RecentLog all = recent_log(0, 1 << 20);
  EXPECT_NE(all.bytes.find("info: first\n"), std::string::npos) << all.bytes;
  EXPECT_EQ(recent_log(-4, 3).bytes, "rst");
  EXPECT_EQ(recent_log(all.end, 10).bytes, "");
  for (int i = 0; i < 10'000; ++i) spdlog::info("line {}", i);
  const RecentLog rest = recent_log(0, 1 << 20);
  testing::internal::GetCapturedStderr();
  spdlog::set_default_logger(before);
  EXPECT_LE(rest.bytes.size(), recent_log_bytes);
  EXPECT_GT(rest.bytes.size(), recent_log_bytes / 2);
  EXPECT_EQ(rest.begin + static_cast<std::int64_t>(rest.bytes.size()), rest.end);
  EXPECT_NE(rest.bytes.find("line 9999\n"), std::string::npos);
  EXPECT_EQ(rest.bytes.substr(0, 2), "20") << "a line begins with its time";
}

TEST(Text, WhatCannotBeSeenOrTurnsTheTextIsShown) {
  EXPECT_EQ(clean("step 7, déjà vu, 步 😀"), "step 7, déjà vu, 步 😀");
  EXPECT_EQ(clean("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(clean("\x1b[31m\x7f\x01"), "?[31m??");
  EXPECT_EQ(clean("\xc2\x9b"
                  "31m"),
            "?31m");                                // U+009B, the eight-bit escape
  EXPECT_EQ(clean("x\u202Egnp.exe"), "x?gnp.exe");  // right to left
  EXPECT_EQ(clean("\u2066a\u2069\u200B\u200F\u061C\uFEFF"), "?a?????");
  EXPECT_EQ(clean("\u2028\u2029"), "??");                  // line ends
  EXPECT_EQ(clean("\xff\xc0\xaf\xed\xa0\x80"), "??????");  // no UTF-8
  EXPECT_EQ(clean("…\u2010€"), "…\u2010€");                // neighbours that are harmless
  EXPECT_EQ(clean(std::string_view("a\0b", 3)), "a?b");
}

TEST(Text, ALossIsNeverThreeHundredDigits) {
  EXPECT_EQ(number_text(2.3104), "2.310");
  EXPECT_EQ(number_text(0), "0.000");
  EXPECT_EQ(number_text(1e308), "1e+308");
  EXPECT_EQ(number_text(-1.234e29), "-1.23e+29");
  EXPECT_EQ(number_text(0.00001), "1e-05");
}

}  // namespace
}  // namespace trainward
