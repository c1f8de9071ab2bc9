#include "trainer/data/examples/example_encoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/random.hpp"
#include "tokenizers.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

PromptPiece markup(std::string text, bool answer = false) {
  return {std::move(text), answer, true};
}
PromptPiece asked(std::string text) { return {std::move(text), false, false}; }
PromptPiece answered(std::string text) { return {std::move(text), true, false}; }

std::vector<PromptPiece> chatml(const std::string& user, const std::string& assistant) {
  return {markup("<|im_start|>user\n"),
          asked(user),
          markup("<|im_end|>\n<|im_start|>assistant\n"),
          answered(assistant),
          markup("<|im_end|>", true),
          markup("\n")};
}

// The tokens that are trained on, decoded.
std::string trained(const Tokenizer& tokenizer, const Example& example) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < example.ids.size(); ++i) {
    if (example.targets[i] != 0) ids.push_back(example.ids[i]);
  }
  return tokenizer.decode(ids, {.begins = false, .special = true}).value();
}

class ByteEncoderTest : public testing::Test {
 protected:
  EncodedExample encode(const std::vector<PromptPiece>& pieces, EncoderRules rules) {
    ExampleEncoder encoder(*tokenizer_, std::move(rules));
    return encoder.encode(pieces).value();
  }
  EncodedExample encode(const std::vector<PromptPiece>& pieces) {
    return encode(pieces, {{}, {end_, im_end_}, false});
  }

  // " y" and "yo" are tokens, and so is what a border could merge: "?!".
  std::unique_ptr<Tokenizer> tokenizer_ = made(chatml_json({{" ", "y"}, {"y", "o"}, {"?", "!"}}));
  TokenId end_ = tokenizer_->find_token("<|endoftext|>").value();
  TokenId im_start_ = tokenizer_->find_token("<|im_start|>").value();
  TokenId im_end_ = tokenizer_->find_token("<|im_end|>").value();
};

// The end of the turn is learned, or the model never stops; the line end behind it is not.
TEST_F(ByteEncoderTest, TheAnswerAndTheEndOfItsTurnAreTrainedOn) {
  const Example example = encode(chatml("yo", "hi")).example;
  EXPECT_EQ(trained(*tokenizer_, example), "hi<|im_end|>");
  EXPECT_EQ(example.ids.back(), im_end_) << "nothing is kept behind the last target";
  EXPECT_EQ(example.targets.back(), 1);
  EXPECT_EQ(tokenizer_->decode(example.ids).value(),
            "<|im_start|>user\nyo<|im_end|>\n<|im_start|>assistant\nhi<|im_end|>");
}

// A mask by the length of the prompt, not by that less one, would never train it.
TEST_F(ByteEncoderTest, TheFirstTokenOfTheAnswerIsATarget) {
  const Example example = encode({asked("2+2?"), answered("4")}).example;
  EXPECT_THAT(example.ids, ElementsAre('2', '+', '2', '?', '4', end_));
  EXPECT_THAT(example.targets, ElementsAre(0, 0, 0, 0, 1, 1));
}

// "?!" is one token of the text as a whole; the prompt alone, as it is asked later, ends with "?".
TEST_F(ByteEncoderTest, NothingMergesAcrossTheLineBetweenAskedAndAnswered) {
  EXPECT_EQ(encoded(*tokenizer_, "?!").size(), 1U) << "or this test shows nothing";
  EXPECT_THAT(encode({asked("?"), answered("!")}).example.ids, ElementsAre('?', '!', end_));
  const auto prompt =
      encoded(*tokenizer_, "<|im_start|>user\nyo?<|im_end|>\n<|im_start|>assistant\n");
  const Example example = encode(chatml("yo?", "!")).example;
  EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), example.ids.begin()));
}

// On the same side, the tokens are those of the whole text: what a server makes of the prompt.
TEST_F(ByteEncoderTest, PiecesOnOneSideAreOneText) {
  const Example example = encode({markup("say "), asked("yo"), answered("hi")}).example;
  const auto whole = encoded(*tokenizer_, "say yo");
  EXPECT_LT(whole.size(),
            encoded(*tokenizer_, "say ").size() + encoded(*tokenizer_, "yo").size() + 1);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), example.ids.begin()));
}

TEST_F(ByteEncoderTest, TheEndIsAddedOnceAndOnlyWhereNothingEndsTheAnswer) {
  EXPECT_THAT(encode({asked("a"), answered("b")}).example.ids, ElementsAre('a', 'b', end_));
  EXPECT_THAT(encode({asked("a"), answered("b"), markup("<|endoftext|>", true)}).example.ids,
              ElementsAre('a', 'b', end_));
  EXPECT_THAT(encode({asked("a"), answered("b"), markup("<|im_end|>", true)}).example.ids,
              ElementsAre('a', 'b', im_end_));
}

// The end token may also be the one that rows are padded with: the mask goes by place, not by id.
TEST_F(ByteEncoderTest, TheEndIsATargetWhateverItsId) {
  const Example example = encode({asked("a"), markup("<|endoftext|>"), answered("b")}).example;
  EXPECT_THAT(example.ids, ElementsAre('a', end_, 'b', end_));
  EXPECT_THAT(example.targets, ElementsAre(0, 0, 1, 1));
}

TEST_F(ByteEncoderTest, SpecialTokensInPeoplesTextAreLetters) {
  const EncodedExample out = encode(chatml("x<|im_end|>y", "no<|im_start|>"));
  EXPECT_TRUE(out.special_in_text);
  EXPECT_EQ(std::ranges::count(out.example.ids, im_end_), 2) << "the format's own";
  EXPECT_EQ(std::ranges::count(out.example.ids, im_start_), 2);
  EXPECT_EQ(
      tokenizer_->decode(out.example.ids).value(),
      "<|im_start|>user\nx<|im_end|>y<|im_end|>\n<|im_start|>assistant\nno<|im_start|><|im_end|>");
  EXPECT_FALSE(encode(chatml("x", "y")).special_in_text);
  EXPECT_FALSE(encode(chatml("<|im_star", "t|>")).special_in_text);
}

// Not one piece holds the token; what stands beside it does the rest.
TEST_F(ByteEncoderTest, NorDoPeopleCompleteOne) {
  const auto out = encode({markup("<|im_"), asked("end|>"), answered("a")});
  EXPECT_TRUE(out.special_in_text);
  EXPECT_EQ(std::ranges::count(out.example.ids, im_end_), 0);
}

TEST_F(ByteEncoderTest, EveryAnswerOfSeveralTurnsIsTrainedOn) {
  std::vector<PromptPiece> pieces = chatml("a", "b");
  for (const PromptPiece& piece : chatml("c", "d")) pieces.push_back(piece);
  const Example example = encode(pieces).example;
  EXPECT_EQ(trained(*tokenizer_, example), "b<|im_end|>d<|im_end|>");
}

TEST_F(ByteEncoderTest, PromptsAreTrainedOnWhereThatIsAsked) {
  const Example example = encode({asked("ab"), answered("c")}, {{im_start_}, {end_}, true}).example;
  EXPECT_THAT(example.ids, ElementsAre(im_start_, 'a', 'b', 'c', end_));
  EXPECT_THAT(example.targets, ElementsAre(0, 1, 1, 1, 1)) << "nothing predicts the begin token";
}

TEST_F(ByteEncoderTest, TheBeginTokenStandsOnceWhoeverWritesIt) {
  const EncoderRules rules{{im_start_}, {end_}, false};
  EXPECT_THAT(encode({asked("a"), answered("b")}, rules).example.ids,
              ElementsAre(im_start_, 'a', 'b', end_));
  EXPECT_THAT(encode({markup("<|im_start|>"), asked("a"), answered("b")}, rules).example.ids,
              ElementsAre(im_start_, 'a', 'b', end_));
}

TEST_F(ByteEncoderTest, PlainTextIsAllTargetAndMayHoldMarkup) {
  const Example example = encode({markup("<|im_start|>a<|im_end|>", true)}).example;
  EXPECT_THAT(example.ids, ElementsAre(im_start_, 'a', im_end_));
  EXPECT_THAT(example.targets, ElementsAre(1, 1, 1));
}

// Whatever people write: no special token comes of it, and the text comes back.
TEST_F(ByteEncoderTest, AnyTextKeepsToItsSide) {
  SplitMix64 random(11);
  const std::vector<std::string> words{"<|im_end|>", "<|im_", "end|>", "<",
                                       "yo",         " y",    "?!",    "\n",
                                       "é",          "\xFF",  " ",     "<|endoftext|>"};
  const auto text = [&] {
    std::string made;
    for (auto left = random.below(6); left > 0; --left) made += words[random.below(words.size())];
    return made;
  };
  for (int round = 0; round < 500; ++round) {
    const std::string user = text();
    const std::string assistant = text() + "x";
    const Example example = encode(chatml(user, assistant)).example;
    EXPECT_EQ(trained(*tokenizer_, example), assistant + "<|im_end|>");
    EXPECT_EQ(tokenizer_->decode(example.ids).value(), "<|im_start|>user\n" + user +
                                                           "<|im_end|>\n<|im_start|>assistant\n" +
                                                           assistant + "<|im_end|>");
    EXPECT_EQ(std::ranges::count(example.ids, im_end_), 2);
  }
}

// Llama 2's vocabulary begins every text with a space, which an answer does not have.
class CharacterEncoderTest : public testing::Test {
 protected:
  EncodedExample encode(const std::vector<PromptPiece>& pieces) {
    ExampleEncoder encoder(*tokenizer_, {tokenizer_->before_text(), {2}, false});
    return encoder.encode(pieces).value();
  }
  std::unique_ptr<Tokenizer> tokenizer_ = made(llama2_json());
};

TEST_F(CharacterEncoderTest, AnAnswerHasNoSpaceThatIsNotThere) {
  const Example example = encode({asked("Hi"), answered("yo")}).example;
  EXPECT_THAT(example.ids,
              ElementsAre(1, *tokenizer_->find_token("▁Hi"), *tokenizer_->find_token("yo"), 2));
  EXPECT_THAT(example.targets, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(tokenizer_->decode(example.ids, {.special = false}).value(), "Hiyo");
}

TEST_F(CharacterEncoderTest, TheBeginTokenStandsOnce) {
  const auto ids = encode({markup("<s>[INST] "), asked("Hi"), markup(" [/INST]"), answered(" yo"),
                           markup(" </s>", true)})
                       .example.ids;
  EXPECT_EQ(std::ranges::count(ids, 1), 1);
  EXPECT_EQ(std::ranges::count(ids, 2), 1);
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(ids.back(), 2);
}

TEST_F(CharacterEncoderTest, ThePromptIsWhatAServerMakesOfIt) {
  const auto prompt = encoded(*tokenizer_, "<s>[INST] Hi [/INST]");
  const auto ids =
      encode({markup("<s>[INST] "), asked("Hi"), markup(" [/INST]"), answered(" yo")}).example.ids;
  EXPECT_THAT(std::vector(ids.begin(), ids.begin() + std::ssize(prompt)), ElementsAreArray(prompt));
}

TEST_F(CharacterEncoderTest, PeoplesSpecialsAreLettersHereToo) {
  const EncodedExample out = encode({asked("a</s>b"), answered("<s>")});
  EXPECT_TRUE(out.special_in_text);
  EXPECT_EQ(std::ranges::count(out.example.ids, 2), 1);
  EXPECT_EQ(std::ranges::count(out.example.ids, 1), 1);
  EXPECT_EQ(tokenizer_->decode(out.example.ids, {.special = false}).value(), "a</s>b<s>");
}

// The model is asked with the very tokens that it was trained behind.
TEST(PromptTest, AnExampleBeginsWithItsPrompt) {
  for (const json::object& file :
       {chatml_json({{" ", "y"}, {"?", "!"}, {":", "\n"}}), llama2_json()}) {
    const auto tokenizer = made(file);
    ExampleEncoder encoder(*tokenizer,
                           {tokenizer->before_text(), {tokenizer->end_of_text()}, false});
    for (const std::string_view name : built_in_format_names()) {
      const auto format = built_in_format(name, {"<s>", "</s>", "", ""}).value();
      const std::vector<ChatTurn> turns{{"user", "Hi yo?"}, {"input", "x"}, {"assistant", "! yo"}};
      const auto example = encoder.encode(format->render(turns).value()).value().example;
      const auto prompt =
          encoder.encode_prompt(format->prompt(std::span(turns).first(2)).value()).value();
      ASSERT_LT(prompt.size(), example.ids.size()) << name;
      EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), example.ids.begin())) << name;
      EXPECT_EQ(example.targets[prompt.size()], 1) << name << ": the answer begins there";
      EXPECT_EQ(std::ranges::count(example.targets.begin(),
                                   example.targets.begin() + std::ssize(prompt), 1),
                0)
          << name;
    }
  }
}

TEST(CutTest, KeepsWhatTheRuleSays) {
  const Example whole{{1, 10, 11, 12, 13}, {0, 0, 0, 1, 1}};
  Example example = whole;
  EXPECT_TRUE(cut(example, 5, TooLong::drop, 1));
  EXPECT_EQ(example.ids.size(), 5U) << "it fits";
  EXPECT_FALSE(cut(example, 4, TooLong::drop, 1));
  EXPECT_TRUE(cut(example, 3, TooLong::keep_start, 1));
  EXPECT_THAT(example.ids, ElementsAre(1, 10, 11));
  EXPECT_EQ(example.target_count(), 0) << "the caller counts and drops it";
  example = whole;
  EXPECT_TRUE(cut(example, 3, TooLong::keep_end, 1));
  EXPECT_THAT(example.ids, ElementsAre(1, 12, 13)) << "with its begin token";
  EXPECT_THAT(example.targets, ElementsAre(0, 0, 1)) << "12 never followed it";
  example = whole;
  EXPECT_TRUE(cut(example, 3, TooLong::keep_end, 0));
  EXPECT_THAT(example.ids, ElementsAre(11, 12, 13));
  EXPECT_THAT(example.targets, ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace trainward::trainer
