// A text that is gone on with: what ends it, what is shown, what is not computed twice.
#include "trainer/generate/generator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generate/made_folders.hpp"
#include "trainer/tokenizer/stream_decoder.hpp"

namespace trainward::trainer {
namespace {

using ::testing::HasSubstr;
using End = Generated::End;

class GeneratorTest : public ::testing::Test {
 protected:
  GeneratorTest() {
    spec_ = test::tiny_spec();
    spec_.model = test::folder_model();
    model_ = test::make(spec_);
    test::fill_with_numbers(*model_, 5);
  }
  std::unique_ptr<Decoder> decoder(std::int64_t context) {
    return Decoder::make(*weights_of(*model_, spec_.model), context, 1).value();
  }
  static GenerateRequest greedy(std::int64_t tokens) {
    GenerateRequest request;
    request.tokens = tokens;
    request.sampling.temperature = 0;
    return request;
  }
  // The ids that a decoder of its own chooses.
  std::vector<TokenId> likeliest(std::vector<TokenId> text, std::size_t count) {
    const auto decode = decoder(80);
    std::vector<TokenId> chosen;
    std::span<const TokenId> next = text;
    for (std::size_t i = 0; i < count; ++i) {
      const auto logits = *decode->advance(next);
      const auto known = logits.first(static_cast<std::size_t>(tokenizer_->vocabulary()));
      chosen.push_back(
          static_cast<TokenId>(std::max_element(known.begin(), known.end()) - known.begin()));
      next = std::span(chosen).last(1);
    }
    return chosen;
  }

  TrainingSpec spec_;
  std::unique_ptr<Trainable> model_;
  std::unique_ptr<Tokenizer> tokenizer_ = made(llama2_json());
  const std::vector<TokenId> text_{1, 300, 17, 264, 9};
};

TEST_F(GeneratorTest, ChoosesTheLikeliestAndTellsThemAsText) {
  const auto decode = decoder(80);
  Generator generator(*decode, *tokenizer_, {});
  std::string shown;
  GenerateRequest request = greedy(12);
  request.show = [&](std::string_view news) {
    shown += news;
    return true;
  };
  const auto done = generator.go_on(text_, request);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->end, End::length);
  EXPECT_EQ(done->tokens, 12);
  EXPECT_EQ(shown, done->text);
  const auto ids = likeliest(text_, 12);
  StreamDecoder letters(*tokenizer_, {.begins = false});
  std::string expected;
  for (const TokenId id : ids) expected += *letters.put(id);
  EXPECT_EQ(done->text, expected + letters.finish());
}

// Each id of the list ends a text, and is not part of it.
TEST_F(GeneratorTest, EndsAtAnyOfItsEnds) {
  const auto ids = likeliest(text_, 12);
  std::size_t place = 3;
  while (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(place), ids[place]) !=
         ids.begin() + static_cast<std::ptrdiff_t>(place)) {
    ++place;
    ASSERT_LT(place, ids.size());
  }
  const auto decode = decoder(80);
  Generator generator(*decode, *tokenizer_, {364, ids[place]});
  const auto done = generator.go_on(text_, greedy(12));
  EXPECT_EQ(done->end, End::token);
  EXPECT_EQ(done->tokens, static_cast<std::int64_t>(place));
}

TEST_F(GeneratorTest, EndsWhereThereIsNoRoomAndWhenAsked) {
  const auto decode = decoder(9);
  Generator generator(*decode, *tokenizer_, {});
  const auto cut = generator.go_on(text_, greedy(12));
  EXPECT_EQ(cut->tokens, 4);
  EXPECT_EQ(cut->end, End::length);
  GenerateRequest request = greedy(12);
  request.show = [](std::string_view) { return false; };
  const auto asked = generator.go_on(text_, request);
  EXPECT_EQ(asked->end, End::asked);
  EXPECT_EQ(asked->tokens, 1);
  EXPECT_THAT(generator.go_on({}, request).error().what, HasSubstr("no text"));
  EXPECT_THAT(generator.go_on(std::vector<TokenId>(9, 5), request).error().what,
              HasSubstr("no room"));
}

// A conversation: each turn goes on from the last one's text, or from another one.
TEST_F(GeneratorTest, ATextThatGoesOnIsAnsweredAsIfItWereNew) {
  const auto kept = decoder(80);
  Generator keeping(*kept, *tokenizer_, {});
  std::vector<TokenId> conversation = text_;
  for (int turn = 0; turn < 4; ++turn) {
    const std::int64_t before = kept->seen();
    const auto answer = keeping.go_on(conversation, greedy(6));
    const auto fresh = decoder(80);
    const auto anew = Generator(*fresh, *tokenizer_, {}).go_on(conversation, greedy(6));
    ASSERT_TRUE(answer && anew);
    EXPECT_EQ(answer->text, anew->text) << turn;
    EXPECT_EQ(kept->seen(), fresh->seen());
    EXPECT_GE(kept->seen(), before);
    const auto said = likeliest(conversation, 6);
    conversation.insert(conversation.end(), said.begin(), said.end());
    conversation.insert(conversation.end(), {2, 40 + turn, 7});
  }
  // Another text, that begins alike, and the same one again.
  std::vector<TokenId> other(conversation.begin(), conversation.begin() + 10);
  other.push_back(99);
  for (int i = 0; i < 2; ++i) {
    const auto fresh = decoder(80);
    EXPECT_EQ(keeping.go_on(other, greedy(6))->text,
              Generator(*fresh, *tokenizer_, {}).go_on(other, greedy(6))->text);
  }
}

TEST_F(GeneratorTest, APenaltyCountsForWhatTheTextHolds) {
  const auto ids = likeliest(text_, 30);
  const auto decode = decoder(80);
  Generator generator(*decode, *tokenizer_, {});
  GenerateRequest request = greedy(30);
  const auto plain = generator.go_on(text_, request);
  request.sampling.repetition_penalty = 1e6;
  const auto varied = generator.go_on(text_, request);
  EXPECT_NE(varied->text, plain->text);
  // No token comes twice, nor one of the prompt: likeliest by hand.
  std::vector<TokenId> present = text_;
  const auto hand = decoder(80);
  std::span<const TokenId> next = text_;
  std::string expected;
  StreamDecoder letters(*tokenizer_, {.begins = false});
  for (int i = 0; i < 30; ++i) {
    const auto logits = *hand->advance(next);
    TokenId best = -1;
    double most = -1e300;
    for (TokenId id = 0; id < tokenizer_->vocabulary(); ++id) {
      double logit = logits[static_cast<std::size_t>(id)];
      if (std::find(present.begin(), present.end(), id) != present.end()) {
        logit = logit > 0 ? logit / 1e6 : logit * 1e6;
      }
      if (logit > most) best = id, most = logit;
    }
    EXPECT_EQ(std::find(present.begin(), present.end(), best), present.end());
    present.push_back(best);
    next = std::span(present).last(1);
    expected += *letters.put(best);
  }
  EXPECT_EQ(varied->text, expected + letters.finish());
}

}  // namespace
}  // namespace trainward::trainer
