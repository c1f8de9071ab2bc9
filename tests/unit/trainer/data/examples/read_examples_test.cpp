#include "trainer/data/examples/read_examples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tokenizers.hpp"
#include "trainer/data/examples/report_text.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReadExamplesTest : public testing::Test {
 protected:
  ReadExamplesTest() {
    options_.tokenizer = tokenizer_.get();
    options_.format = format_.get();
    options_.rules = {{}, {end_, im_end_}, false};
    options_.block = 100;
    options_.bad_row = [this](const BadLine& row) -> Status {
      bad_.push_back(fmt::format("{}:{}", row.file.filename().string(), row.number));
      return {};
    };
  }

  Result<LoadedExamples> read(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder_.path(name));
    return read_examples(paths, options_);
  }
  // "asked⟦answered⟧"
  [[nodiscard]] std::string shown(const ExampleSet& set, std::uint32_t example) const {
    return shown_text(show(set.at(example), *tokenizer_).value(), "⟦", "⟧");
  }

  const ScratchFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_ = made(chatml_json());
  TokenId end_ = tokenizer_->find_token("<|endoftext|>").value();
  TokenId im_end_ = tokenizer_->find_token("<|im_end|>").value();
  std::shared_ptr<const PromptFormat> format_ =
      built_in_format("chatml", {"", "<|endoftext|>", "", ""}).value();
  ExampleOptions options_;
  std::vector<std::string> bad_;
};

TEST_F(ReadExamplesTest, EveryFormBecomesItsTextWithTheAnswersMarked) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"}
{"instruction": "c", "input": "d", "output": "e"}
{"messages": [{"role": "user", "content": "f"}, {"role": "assistant", "content": "g"}, {"role": "user", "content": "h"}, {"role": "assistant", "content": "i"}]}
{"text": "all of it"}
)");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  const ExampleSet& set = loaded->set;
  ASSERT_EQ(set.size(), 4U);
  EXPECT_EQ(shown(set, 0), "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n⟦b<|im_end|>⟧");
  EXPECT_EQ(shown(set, 1),
            "<|im_start|>user\nc\n\nd<|im_end|>\n<|im_start|>assistant\n⟦e<|im_end|>⟧");
  EXPECT_EQ(shown(set, 2),
            "<|im_start|>user\nf<|im_end|>\n<|im_start|>assistant\n⟦g<|im_end|>⟧\n"
            "<|im_start|>user\nh<|im_end|>\n<|im_start|>assistant\n⟦i<|im_end|>⟧");
  EXPECT_EQ(shown(set, 3), "a⟦ll of it<|endoftext|>⟧") << "nothing predicts the first token";
  EXPECT_EQ(loaded->report.examples, 4);
  EXPECT_EQ(loaded->report.tokens, set.tokens());
  EXPECT_THAT(loaded->report.warnings(), IsEmpty());
}

TEST_F(ReadExamplesTest, BadRowsAreNamedCountedAndCostNoOther) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"}
{"prompt": "a"}
nothing
{"messages": [{"role": "user", "content": "x"}]}
{"prompt": "c", "response": "d"}
)");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set.size(), 2U);
  EXPECT_THAT(bad_, ElementsAre("a.jsonl:2", "a.jsonl:3", "a.jsonl:4"));
  EXPECT_EQ(loaded->report.bad_rows, 3);
  EXPECT_THAT(loaded->report.first_bad_row, HasSubstr("a.jsonl:2: has no 'response'"));
  EXPECT_THAT(loaded->report.warnings(), ElementsAre(HasSubstr("3 rows, the first ")));
}

// Whatever the rule, no example without a target comes through: its loss would be nothing.
TEST_F(ReadExamplesTest, WhatIsTooLongIsCutOrDroppedAndCounted) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"}
{"prompt": "a", "response": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}
{"prompt": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "response": "b"}
)");
  options_.block = 40;  // the form itself takes 22
  auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set.size(), 2U);
  EXPECT_EQ(loaded->report.cut, 1);
  EXPECT_EQ(loaded->report.without_target, 1);
  EXPECT_EQ(loaded->report.longest, 66);
  EXPECT_THAT(shown(loaded->set, 1), HasSubstr("⟦bbb"));
  EXPECT_THAT(shown(loaded->set, 1), Not(HasSubstr("bbb<|im_end|>")))
      << "what was cut off has no end";
  options_.too_long = TooLong::keep_end;
  loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set.size(), 3U);
  EXPECT_EQ(loaded->report.cut, 2);
  EXPECT_THAT(shown(loaded->set, 2), HasSubstr("⟦b<|im_end|>⟧"));
  options_.too_long = TooLong::drop;
  loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set.size(), 1U);
  EXPECT_EQ(loaded->report.too_long, 2);
  for (const std::uint32_t length : loaded->set.lengths()) EXPECT_LE(length, 40U);
}

TEST_F(ReadExamplesTest, WhenNothingIsLeftTheErrorSaysWhatBecameOfTheRows) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"}
{"prompt": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "response": "b"}
)");
  options_.block = 10;
  options_.too_long = TooLong::drop;
  auto dropped = read({"a.jsonl"});
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().kind, ErrorKind::usage);
  EXPECT_THAT(dropped.error().where, HasSubstr("a.jsonl"));
  EXPECT_THAT(dropped.error().what, HasSubstr("of 2, 2 are longer than block_size 10"));
  EXPECT_THAT(dropped.error().hint, HasSubstr("block_size"));
  options_.too_long = TooLong::keep_start;
  auto cut = read({"a.jsonl"});
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().what, HasSubstr("of 2, 2 lose their whole answer within block_size 10;"));
}

TEST_F(ReadExamplesTest, SpecialTokensInPeoplesTextAreCounted) {
  folder_.write("a.jsonl", R"({"prompt": "a<|im_end|>", "response": "b"}
{"prompt": "a", "response": "b"}
)");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->report.special_in_text, 1);
  EXPECT_THAT(loaded->report.warnings(), ElementsAre(HasSubstr("1 example has the text")));
}

TEST_F(ReadExamplesTest, BeginTokensAreCounted) {
  folder_.write("a.jsonl", R"({"text": "<|im_start|>a<|im_start|>b"}
{"text": "<|im_start|><|im_start|>a"}
{"text": "a<|im_start|>"}
)");
  options_.beginning = tokenizer_->find_token("<|im_start|>");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->report.beginning_twice, 1);
  EXPECT_EQ(loaded->report.without_beginning, 1);
  EXPECT_EQ(loaded->report.warnings().size(), 2U);
}

TEST_F(ReadExamplesTest, PercentilesAreOfTheWholeExamples) {
  std::string rows;
  for (int length = 1; length <= 100; ++length) {
    rows +=
        fmt::format("{{\"text\": \"{}\"}}\n", std::string(static_cast<std::size_t>(length), 'a'));
  }
  folder_.write("a.jsonl", rows);
  options_.block = 50;
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  const LoadReport& report = loaded->report;
  EXPECT_EQ(report.median, 51) << "50 letters and the end";
  EXPECT_EQ(report.ninety_percent, 91);
  EXPECT_EQ(report.ninety_nine_percent, 100);
  EXPECT_EQ(report.longest, 101);
  EXPECT_EQ(report.cut, 51);
  EXPECT_EQ(loaded->set.lengths()[99], 50U);
}

TEST_F(ReadExamplesTest, PromptsAreTargetsWhereThatIsAsked) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"})");
  options_.rules.train_on_prompts = true;
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->report.targets, loaded->report.tokens - 1);
}

TEST_F(ReadExamplesTest, AMemberThatIsThereTwiceIsNeitherOfThem) {
  folder_.write("a.jsonl",
                "{\"prompt\": \"a\", \"response\": \"b\", \"response\": \"c\"}\n"
                "{\"prompt\": \"a\", \"response\": \"b\"}\n");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set.size(), 1U);
  EXPECT_THAT(loaded->report.first_bad_row, HasSubstr("a.jsonl:1: has the key 'response' twice"));
}

TEST_F(ReadExamplesTest, WhatIsMarkedIsNotTrainedOn) {
  folder_.write("a.jsonl",
                R"({"messages": [{"role": "user", "content": "a"}, )"
                R"({"role": "assistant", "content": "BAD", "weight": 0}, )"
                R"({"role": "user", "content": "b"}, {"role": "assistant", "content": "GOOD"}]})");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(shown(loaded->set, 0), HasSubstr("BAD<|im_end|>\n"));
  EXPECT_THAT(shown(loaded->set, 0), HasSubstr("⟦GOOD<|im_end|>⟧"));
  EXPECT_THAT(shown(loaded->set, 0), Not(HasSubstr("⟦BAD")));
  options_.rules.train_on_prompts = true;
  EXPECT_THAT(read({"a.jsonl"}).error().message(), HasSubstr("train_on_prompts"));
}

TEST_F(ReadExamplesTest, AMisspeltColumnAndTooMuchDataAreErrors) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"})");
  options_.columns = {{"promt", "a"}};
  EXPECT_EQ(read({"a.jsonl"}).error().where, "columns");
  options_.columns.clear();
  options_.max_bytes = 50;
  auto full = read({"a.jsonl"});
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().what, HasSubstr("more than 50 B"));
  EXPECT_THAT(full.error().where, HasSubstr("a.jsonl"));
}

TEST_F(ReadExamplesTest, AnAskedForStopEndsTheReading) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"})");
  options_.progress = [](std::uint64_t, std::uint64_t) {
    return Status(fail(ErrorKind::transient, "was asked to stop"));
  };
  EXPECT_EQ(read({"a.jsonl"}).error().kind, ErrorKind::transient);
}

TEST_F(ReadExamplesTest, TheReportIsATableAndAnObject) {
  folder_.write("a.jsonl", R"({"prompt": "a", "response": "b"}
{"prompt": "a"}
)");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  const std::string table = report_text(loaded->report);
  EXPECT_THAT(table, HasSubstr("examples                           1\n"));
  EXPECT_THAT(table, HasSubstr("left out, bad rows                 1\n"));
  EXPECT_THAT(table, HasSubstr("%"));
  const json::object object = report_json(loaded->report);
  EXPECT_EQ(object.at("examples"), 1);
  EXPECT_EQ(object.at("bad_rows"), 1);
  EXPECT_TRUE(object.contains("first_bad_row"));
}

TEST_F(ReadExamplesTest, WhatIsShownIsSafeAndShort) {
  folder_.write("a.jsonl",
                R"({"prompt": "a\u001b[31m\nb", "response": ")" + std::string(60, 'x') + "\"}");
  const auto loaded = read({"a.jsonl"});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(shown(loaded->set, 0), HasSubstr("a?[31m\nb"));
  const auto some = shown_text(show(loaded->set.at(0), *tokenizer_, 20).value(), "<", ">");
  EXPECT_THAT(some, HasSubstr(" … 68 tokens left out … "));
  EXPECT_LT(some.size(), 120U);
}

// A vocabulary that begins texts with a space: what is shown is the text, not its parts.
TEST(ShowTest, StretchesJoinToTheText) {
  const auto tokenizer = made(llama2_json());
  Example example;
  for (const TokenId id : encoded(*tokenizer, "Hi")) example.ids.push_back(id);
  example.targets.assign(example.ids.size(), 0);
  for (const TokenId id : encoded(*tokenizer, " yo é", {.begins = false})) {
    example.ids.push_back(id);
    example.targets.push_back(1);
  }
  EXPECT_EQ(shown_text(show(example, *tokenizer).value(), "[", "]"), "Hi[ yo é]");
}

TEST(SharedExamplesTest, AreFoundByTheirTokens) {
  ExampleSet a;
  ExampleSet b;
  ASSERT_TRUE(a.add({{1, 2}, {0, 1}}));
  ASSERT_TRUE(a.add({{3, 4}, {0, 1}}));
  ASSERT_TRUE(b.add({{3, 4}, {0, 1}}));
  ASSERT_TRUE(b.add({{3, 4, 5}, {0, 1, 1}}));
  const std::vector<std::uint32_t> both{0, 1};
  const std::vector<std::uint32_t> first{0};
  EXPECT_EQ(shared_examples(a, both, b, both), 1);
  EXPECT_EQ(shared_examples(a, first, b, both), 0);
}

}  // namespace
}  // namespace trainward::trainer
