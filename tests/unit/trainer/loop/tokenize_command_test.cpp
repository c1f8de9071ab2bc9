#include "trainer/worker/commands/tokenize_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/protocol/protocol.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class TokenizeCommandTest : public testing::Test {
 protected:
  TokenizeCommandTest() {
    options_.paths = {(bench_.folder() / "data").string()};
    options_.out = (bench_.folder() / "out.bin").string();
    bench_.requests.seen = &looks_;
  }
  CommandPorts ports() {
    return {bench_.requests, [this](std::string_view text) { out_ += text; },
            [this](std::string_view text) { err_ += text; }, [this] { return width_; },
            [this] {
              ++looks_;
              return time_ += std::chrono::seconds(6);
            }};
  }
  int run() {
    out_.clear();
    err_.clear();
    return run_tokenize(options_, ports());
  }

  WorkerBench bench_;
  TokenizeOptions options_;
  std::string out_;
  std::string err_;
  int width_ = 0;
  std::int64_t looks_ = 0;
  ProgressBar::Time time_{};
};

TEST_F(TokenizeCommandTest, SaysWhatItWrote) {
  EXPECT_EQ(run(), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("out.bin: 1 document, 1270 tokens of 2 bytes, from 1 KiB"));
  EXPECT_EQ(run_tokens(options_.out, false, ports()), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("vocabulary 257, end of text 256, as they were written"));
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("out.bin: is there already"));
}

TEST_F(TokenizeCommandTest, JsonIsOneObjectAndNothingElse) {
  std::ofstream(bench_.folder() / "data" / "more.jsonl") << "x\n";
  options_.json = true;
  options_.quarantine = (bench_.folder() / "bad.jsonl").string();
  width_ = 80;
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(err_, IsEmpty());
  auto summary = parse_json(out_, "");
  ASSERT_TRUE(summary) << out_;
  EXPECT_EQ(summary->at("tokens").as_int64(), 1270);
  EXPECT_EQ(summary->at("bad_lines").as_int64(), 1);
  EXPECT_EQ(summary->at("files_left_out").as_array().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(*options_.quarantine));
}

TEST_F(TokenizeCommandTest, ABarOnATerminalAndLinesElsewhere) {
  width_ = 80;
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(err_, HasSubstr("\rtokenizing  ["));
  EXPECT_THAT(err_, testing::EndsWith("\r\x1b[K")) << "it is taken away";
  std::filesystem::remove(options_.out);
  width_ = 0;
  std::ofstream(bench_.folder() / "data" / "more.txt") << "text";
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(err_, HasSubstr("tokenizing: "));
  EXPECT_THAT(err_, testing::Not(HasSubstr("\x1b")));
}

TEST_F(TokenizeCommandTest, AStopLeavesNoFile) {
  bench_.requests.stop_at = 0;
  EXPECT_EQ(run(), exit_code::try_again);
  EXPECT_THAT(err_, HasSubstr("stopped as asked; " + options_.out + " was not written"));
  for (const auto& entry : std::filesystem::directory_iterator(bench_.folder())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("out.bin")));
  }
}

TEST_F(TokenizeCommandTest, WhatOnlyAPersonCanChangeHasItsCode) {
  options_.tokenizer = "byte";
  options_.end_of_text = "<end>";
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("--end-of-text"));
  options_.end_of_text.clear();
  options_.format = "u16";
  EXPECT_EQ(run(), exit_code::configuration);
  options_.format = "auto";
  options_.paths = {"/nonexistent/text"};
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_EQ(run_tokens((bench_.folder() / "data").string(), false, ports()), exit_code::failed);
}

}  // namespace
}  // namespace trainward::trainer
