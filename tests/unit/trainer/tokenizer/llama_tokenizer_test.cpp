// Tokenizers in characters, as Llama 2's; the ids are worked out by hand from the vocabulary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "llama_vocabulary.hpp"
#include "made_tokenizer.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tokens encode(Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  Tokens out;
  const auto ok = tokenizer.encode(text, out, options);
  EXPECT_TRUE(ok) << ok.error().message();
  return out;
}

constexpr TokenId byte(int value) { return 3 + value; }

TEST(LlamaTokenizerTest, GoldenIds) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->vocabulary(), 291);
  EXPECT_EQ(tokenizer->end_of_text(), 2);
  EXPECT_THAT(encode(*tokenizer, "hello world"), ElementsAre(269, 272));
  EXPECT_THAT(encode(*tokenizer, "the"), ElementsAre(265));
  EXPECT_THAT(encode(*tokenizer, "The"), ElementsAre(275, byte('T'), 261));
  EXPECT_THAT(encode(*tokenizer, ""), ElementsAre());
  EXPECT_THAT(encode(*tokenizer, "n\u00E9"), ElementsAre(275, 280, 286));
  EXPECT_THAT(encode(*tokenizer, "\U0001F600"),
              ElementsAre(275, byte(0xF0), byte(0x9F), byte(0x98), byte(0x80)));
  EXPECT_THAT(encode(*tokenizer, "hello\n\tthe"),
              ElementsAre(269, byte('\n'), byte('\t'), 277, 261));
}

// The one in front is one more: nothing looks whether the text has one.
TEST(LlamaTokenizerTest, RunsOfSpacesAreTokens) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, " "), ElementsAre(259));
  EXPECT_THAT(encode(*tokenizer, " hello"), ElementsAre(259, 268));
  EXPECT_THAT(encode(*tokenizer, "  hello"), ElementsAre(259, 269)) << "the leftmost first";
  EXPECT_THAT(encode(*tokenizer, "   hello"), ElementsAre(266, 268));
  EXPECT_THAT(encode(*tokenizer, "hello  world"), ElementsAre(269, 259, 283, 264, 271));
}

TEST(LlamaTokenizerTest, EveryPartBetweenAddedTokensBeginsAnew) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "<s>hello</s>\nhello"),
              ElementsAre(1, 269, 2, 275, byte('\n'), 268));
  EXPECT_THAT(encode(*tokenizer, "</s></s>"), ElementsAre(2, 2)) << "nothing between, no space";
}

TEST(LlamaTokenizerTest, AddedTokensThatAreNormalizedCarryTheSpaceInFront) {
  json::object file = llama_json();
  file["added_tokens"].as_array()[2].as_object()["normalized"] = true;
  const auto tokenizer = made_of(file);
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "</s>"), ElementsAre(2));
  EXPECT_THAT(encode(*tokenizer, "the </s>"), ElementsAre(265, 2));
}

TEST(LlamaTokenizerTest, APartThatGoesOnGetsNoSpace) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "hello world", {.begins = false}), ElementsAre(268, 272));
  EXPECT_THAT(encode(*tokenizer, " world", {.begins = false}), ElementsAre(272));
  EXPECT_THAT(encode(*tokenizer, "hello</s>hello", {.begins = false}), ElementsAre(268, 2, 269));
  EXPECT_THAT(encode(*tokenizer, "hello", {.begins = false, .after_token = true}),
              ElementsAre(269));
}

TEST(LlamaTokenizerTest, MetaspaceIsAsItsSchemeSays) {
  const auto ids = [](json::object rule, std::string_view text, EncodeOptions options = {}) {
    const auto tokenizer = made_of(metaspace_json(std::move(rule)));
    return tokenizer ? encode(*tokenizer, text, options) : Tokens{};
  };
  const std::string_view two = "hello</s>hello";
  EXPECT_THAT(ids(metaspace("always"), two), ElementsAre(269, 2, 269));
  EXPECT_THAT(ids(metaspace("first"), two), ElementsAre(269, 2, 268));
  EXPECT_THAT(ids(metaspace("never"), two), ElementsAre(268, 2, 268));
  EXPECT_THAT(ids(metaspace("first"), "<s>hello"), ElementsAre(1, 268));
  const EncodeOptions goes_on{.begins = false};
  EXPECT_THAT(ids(metaspace("always"), two, goes_on), ElementsAre(268, 2, 269));
  EXPECT_THAT(ids(metaspace("first"), two, goes_on), ElementsAre(268, 2, 268));
  const EncodeOptions after{.begins = false, .after_token = true};
  EXPECT_THAT(ids(metaspace("always"), "hello", after), ElementsAre(269));
  EXPECT_THAT(ids(metaspace("first"), "hello", after), ElementsAre(268));
  // One that is there is not doubled, and words do not join where they are cut.
  EXPECT_THAT(ids(metaspace("always"), " hello"), ElementsAre(269));
  EXPECT_THAT(ids(metaspace("first"), "hello  world"), ElementsAre(269, 275, 272));
  EXPECT_THAT(ids(metaspace("first", false), "hello  world"), ElementsAre(269, 259, 283, 264, 271));
  // Spellings of older files.
  const auto older = [](bool prefix) {
    return json::object{{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", prefix}};
  };
  EXPECT_THAT(ids(older(true), two), ElementsAre(269, 2, 269));
  EXPECT_THAT(ids(older(false), two), ElementsAre(268, 2, 268));
  EXPECT_THAT(ids(json::object{{"type", "Metaspace"},
                               {"replacement", "▁"},
                               {"str_rep", "▁"},
                               {"add_prefix_space", true},
                               {"prepend_scheme", "first"}},
                  two),
              ElementsAre(269, 2, 268));
  EXPECT_THAT(ids(sequence({metaspace("always")}), two), ElementsAre(269, 2, 269));
}

TEST(LlamaTokenizerTest, WhatIsUnknown) {
  json::object file = llama_json();
  auto& model = file["model"].as_object();
  model["byte_fallback"] = false;
  EXPECT_THAT(encode(*made_of(file), "x\u2603ay"), ElementsAre(275, 0, 278, 0));
  model["fuse_unk"] = false;
  EXPECT_THAT(encode(*made_of(file), "x\u2603ay"), ElementsAre(275, 0, 0, 278, 0));
  model["byte_fallback"] = true;
  model["vocab"].as_object().erase("<0x9F>");
  EXPECT_THAT(encode(*made_of(file), "\U0001F600x"), ElementsAre(275, 0, byte('x')))
      << "all bytes or none";
  model["unk_token"] = nullptr;
  const auto without = made_of(file);
  Tokens out{7};
  const auto ok = without->encode("a\U0001F600", out);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(ok.error().what, HasSubstr("'\U0001F600', for which the vocabulary has no token"));
  EXPECT_EQ(out, Tokens{7});
}

TEST(LlamaTokenizerTest, BytesThatAreNoTextComeBack) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  const std::string_view text = "a\xFFthe\xE4\xB8";
  const Tokens ids = encode(*tokenizer, text);
  EXPECT_THAT(ids, ElementsAre(275, 278, byte(0xFF), 277, 261, byte(0xE4), byte(0xB8)))
      << "no space where text goes on after such bytes";
  EXPECT_EQ(tokenizer->decode(ids).value(), text);
}

// The vocabulary can merge </s> from its characters, as some published ones can.
TEST(LlamaTokenizerTest, NoAddedTokenComesFromTextOfStrangers) {
  const EncodeOptions stranger{.special = false};
  json::object file = llama_json();
  const auto tokenizer = made_of(file);
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "hello</s>"), ElementsAre(269, 2));
  EXPECT_THAT(encode(*tokenizer, "hello</s>", stranger), ElementsAre(269, 273, 274));
  EXPECT_THAT(encode(*tokenizer, "<s>", stranger), ElementsAre(275, 287, 274));
  EXPECT_THAT(encode(*tokenizer, "hello</s>"), ElementsAre(269, 2)) << "nothing was remembered";
  file["model"].as_object()["ignore_merges"] = true;
  const auto whole = made_of(file);
  ASSERT_TRUE(whole);
  const EncodeOptions within{.begins = false, .special = false};
  EXPECT_THAT(encode(*whole, "</s>", within), ElementsAre(273, 274));
  EXPECT_THAT(encode(*whole, "hello", within), ElementsAre(268));
}

TEST(LlamaTokenizerTest, OfWholePiecesWithIgnoreMerges) {
  json::object file = metaspace_json(metaspace("first"));
  file["model"].as_object()["vocab"].as_object()["▁hold"] = 300;
  EXPECT_THAT(encode(*made_of(file), "hold hold"),
              ElementsAre(275, 281, 279, 271, 275, 281, 279, 271));
  file["model"].as_object()["ignore_merges"] = true;
  EXPECT_THAT(encode(*made_of(file), "hold hold"), ElementsAre(300, 300));
}

TEST(LlamaTokenizerTest, DecodingTakesTheSpaceInFrontAway) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->decode(Tokens{269, 272}).value(), "hello world");
  EXPECT_EQ(tokenizer->decode(Tokens{269, 272}, {.begins = false}).value(), " hello world");
  EXPECT_EQ(tokenizer->decode(Tokens{1, 269, 2}).value(), "<s> hello</s>");
  EXPECT_EQ(tokenizer->decode(Tokens{1, 269, 2}, {.special = false}).value(), "hello");
  EXPECT_EQ(tokenizer->decode(Tokens{259, 268}).value(), " hello") << "one alone";
  EXPECT_EQ(made_of(metaspace_json(metaspace("never")))->decode(Tokens{269}).value(), "hello")
      << "as the decoder says";
  json::object file = metaspace_json(metaspace("never"));
  file["decoder"] = metaspace("never");
  EXPECT_EQ(made_of(file)->decode(Tokens{269}).value(), " hello");
  file["decoder"] = metaspace("first");
  EXPECT_EQ(made_of(file)->decode(Tokens{269}).value(), "hello");
  EXPECT_EQ(made_of(file)->decode(Tokens{byte('a')}).value(), "<0x61>") << "no ByteFallback there";
}

std::string random_text(std::mt19937_64& random, int most) {
  static const std::vector<std::string> bits{
      "hello", " ",    "  ",   "   ",        "world",           "\t", "\n",  "é", "e",
      "the",   "\xFF", "\xE4", "\U0001F600", std::string(1, 0), "爱", "</s", "t", "ld"};
  std::string text;
  for (auto parts = random() % static_cast<unsigned>(most); parts > 0; --parts) {
    text += bits[random() % bits.size()];
  }
  return text;
}

TEST(LlamaTokenizerTest, PromptAndResponseDecodeToTheText) {
  std::mt19937_64 random(17);
  for (const json::object& file : {llama_json(), metaspace_json(metaspace("first", false))}) {
    const auto tokenizer = made_of(file);
    ASSERT_TRUE(tokenizer);
    const bool doubles = file.at("pre_tokenizer").is_null();
    for (int round = 0; round < 3000; ++round) {
      std::string prompt = random_text(random, 12);
      // Metaspace puts nothing before a space that is there: decoding takes that one.
      if (!doubles) prompt.insert(0, "x");
      if (prompt.empty()) prompt = "x";
      const std::string response = random_text(random, 12);
      Tokens ids = encode(*tokenizer, prompt);
      ASSERT_EQ(tokenizer->decode(ids).value(), prompt);
      const Tokens more = encode(*tokenizer, response, {.begins = false, .special = false});
      ids.insert(ids.end(), more.begin(), more.end());
      ASSERT_EQ(tokenizer->decode(ids).value(), prompt + response) << "round " << round;
      ASSERT_EQ(tokenizer->decode(more, {.begins = false}).value(), response);
    }
  }
}

// Without a merge of bytes a text is cut before its words, with one it is merged as a whole.
TEST(LlamaTokenizerTest, CuttingAtSpacesChangesNothing) {
  std::mt19937_64 random(4);
  const std::vector<std::string> letters{"▁", "a", "b", "c"};
  for (int vocabulary = 0; vocabulary < 200; ++vocabulary) {
    std::vector<std::string> tokens = letters;
    TextMerges merges;
    for (int i = 0; i < 12; ++i) {
      merges.emplace_back(tokens[random() % tokens.size()], tokens[random() % tokens.size()]);
      // Every other vocabulary has no word with a space inside, as most have not.
      if (vocabulary % 2 == 0 && merges.back().second.find("▁") != std::string::npos) {
        merges.back().second = "a";
      }
      tokens.push_back(merges.back().first + merges.back().second);
    }
    const auto cut = made_of(llama_json(merges, letters));
    merges.emplace_back("<0x00>", "<0x01>");
    const auto whole = made_of(llama_json(merges, letters));
    ASSERT_TRUE(cut && whole);
    for (int round = 0; round < 20; ++round) {
      std::string text;
      for (auto size = random() % 120; size > 0; --size) text += " abcz"[random() % 5];
      const Tokens a = encode(*cut, text);
      const Tokens b = encode(*whole, text);
      ASSERT_EQ(a.size(), b.size()) << text;
      // Ids differ: one more token moves the characters behind it.
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(cut->decode(Tokens{a[i]}, {.begins = false}).value(),
                  whole->decode(Tokens{b[i]}, {.begins = false}).value());
      }
    }
  }
}

TEST(LlamaTokenizerTest, AMebibyteWithoutAnySpace) {
  const auto tokenizer = made_of(llama_json());
  ASSERT_TRUE(tokenizer);
  std::string text;
  std::mt19937_64 random(1);
  while (text.size() < (std::size_t{1} << 20U)) text += "helowrdtan"[random() % 10];
  const Tokens ids = encode(*tokenizer, text);
  EXPECT_EQ(tokenizer->decode(ids).value(), text);
  const Tokens spaces = encode(*tokenizer, std::string(std::size_t{1} << 20U, ' '));
  EXPECT_EQ(spaces.size(), (std::size_t{1} << 18U) + 1) << "fours, and the one in front";
  Tokens out;
  const auto ok = tokenizer->encode(std::string(std::size_t{17} << 20U, 'a'), out);
  ASSERT_FALSE(ok);
  EXPECT_THAT(ok.error().what, HasSubstr("with nowhere to cut it"));
}

TEST(LlamaTokenizerTest, TheDigestTellsWhatDecidesTheIds) {
  const auto digest = [](const json::object& file) { return made_of(file)->digest(); };
  const std::string plain = digest(llama_json());
  json::object file = llama_json();
  file["post_processor"] = nullptr;
  EXPECT_EQ(digest(file), plain) << "around a text, not in it";
  file["model"].as_object()["fuse_unk"] = false;
  EXPECT_NE(digest(file), plain);
  file = llama_json();
  file["normalizer"] = nullptr;
  EXPECT_NE(digest(file), plain);
  EXPECT_NE(digest(metaspace_json(metaspace("first"))), digest(metaspace_json(metaspace("never"))));
  file = llama_json();
  file["added_tokens"].as_array()[2].as_object()["single_word"] = true;
  EXPECT_NE(digest(file), plain);
}

}  // namespace
}  // namespace trainward::trainer
