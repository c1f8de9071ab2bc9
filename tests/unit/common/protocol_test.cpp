#include "common/protocol/protocol.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "common/protocol/worker_sample.hpp"

namespace trainward {
namespace {

TEST(Protocol, RoundTrip) {
  const Message message{{"STEP", "12"}, {"LOSS", "2.5"}, {"STATUS", "two\nlines"}};
  const Message again = parse_message(encode(message));
  EXPECT_EQ(find_int(again, "STEP"), 12);
  EXPECT_EQ(find_number(again, "LOSS"), 2.5);
  EXPECT_EQ(find(again, "STATUS"), "two lines");
  EXPECT_FALSE(find(again, "PHASE").has_value());
}

TEST(Protocol, WhatIsNoNumberIsNone) {
  const Message message = parse_message("STEP=12x\nLOSS=\nTOKENS=99999999999999999999\nOK=-3");
  EXPECT_FALSE(find_int(message, "STEP").has_value());
  EXPECT_FALSE(find_number(message, "LOSS").has_value());
  EXPECT_FALSE(find_int(message, "TOKENS").has_value());
  EXPECT_EQ(find_int(message, "OK"), -3);
}

TEST(Protocol, GarbageIsBoundedAndHarmless) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(random() % 20'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const Message message = parse_message(bytes);
    EXPECT_LE(message.size(), 64U);
    for (const auto& [key, value] : message) EXPECT_LE(value.size(), 4096U);
  }
  EXPECT_TRUE(parse_message("lower=1\n=2\nNOEQUALS\n1BAD=3").empty());
}

WorkerSample again(const WorkerSample& sample) {
  return told_sample(parse_message(encode(message_of(sample)))).value();
}

TEST(Protocol, ASampleComesThroughWhateverItsTexts) {
  const WorkerSample sample{
      12, "Say \"hi\"\n\tor \\n\r", "\x01 \x7f \x1b[2J €😀 KEY=value\nSTEP=9", 7, "length", false};
  const WorkerSample told = again(sample);
  EXPECT_EQ(told.step, 12);
  EXPECT_EQ(told.prompt, sample.prompt);
  EXPECT_EQ(told.answer, sample.answer);
  EXPECT_EQ(told.tokens, 7);
  EXPECT_EQ(told.end, "length");
  EXPECT_FALSE(told.cut);
  const WorkerSample bare = again({0, "", ""});
  EXPECT_EQ(bare.step, 0);
  EXPECT_FALSE(bare.tokens.has_value());
  EXPECT_EQ(bare.end, "");
}

TEST(Protocol, ALongSampleIsCutBehindAWholeCharacterAndSaysSo) {
  for (const std::string character : {"a", "\n", "\x01", "€", "😀"}) {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += character;
    const Message message = message_of({1, text, "short"});
    EXPECT_LE(encode(message).size(), max_message_bytes);
    const WorkerSample told = again({1, text, "short"});
    EXPECT_TRUE(told.cut);
    EXPECT_EQ(told.answer, "short");
    EXPECT_EQ(text.substr(0, told.prompt.size()), told.prompt);
    EXPECT_EQ(told.prompt.size() % character.size(), 0U);
    EXPECT_GT(find(message, "SAMPLE_PROMPT")->size(), max_value_bytes - 8) << "as much as fits";
    EXPECT_TRUE(again({1, "short", text}).cut);
  }
  EXPECT_FALSE(again({1, std::string(max_value_bytes - 2, 'a'), ""}).cut);
  EXPECT_TRUE(again({1, std::string(max_value_bytes - 1, 'a'), ""}).cut);
}

TEST(Protocol, ASampleOfAnybodyIsBoundedAndReadable) {
  const auto told = [](std::string_view text) { return told_sample(parse_message(text)); };
  EXPECT_EQ(told("SAMPLE_STEP=1\nSAMPLE_PROMPT=plain \"words\"\nSAMPLE_ANSWER=\"torn")->answer,
            "\"torn");
  EXPECT_EQ(told("SAMPLE_STEP=1\nSAMPLE_PROMPT=\"\\u0000a\"\nSAMPLE_ANSWER=\xff")->prompt, " a");
  EXPECT_EQ(told("SAMPLE_STEP=1\nSAMPLE_PROMPT=\nSAMPLE_ANSWER=\xff")->answer, "\xEF\xBF\xBD");
  const auto odd = told(
      "SAMPLE_STEP=1\nSAMPLE_PROMPT=\nSAMPLE_ANSWER=\nSAMPLE_TOKENS=-3\n"
      "SAMPLE_END=\x1b" +
      std::string(99, 'x'));
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->tokens.has_value());
  EXPECT_EQ(odd->end, "?" + std::string(31, 'x'));
  for (const char* text :
       {"SAMPLE_PROMPT=a\nSAMPLE_ANSWER=b", "SAMPLE_STEP=1\nSAMPLE_PROMPT=a",
        "SAMPLE_STEP=1\nSAMPLE_ANSWER=b", "SAMPLE_STEP=-1\nSAMPLE_PROMPT=a\nSAMPLE_ANSWER=b",
        "SAMPLE_STEP=1000000000001\nSAMPLE_PROMPT=a\nSAMPLE_ANSWER=b"}) {
    EXPECT_FALSE(told(text)) << text;
  }
}

}  // namespace
}  // namespace trainward
