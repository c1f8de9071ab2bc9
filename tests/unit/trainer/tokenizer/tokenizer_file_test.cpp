// What is refused, and that the refusal names it.
#include "trainer/tokenizer/file/tokenizer_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llama_vocabulary.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

json::object good() { return tokenizer_json({{"a", "b"}, {"ab", "c"}}, byte_level(false, true)); }

std::string refusal(const json::object& file) {
  auto parsed = parse_tokenizer(json::serialize(file));
  return parsed ? "accepted" : parsed.error().message();
}

std::string with_model(std::string_view key, json::value value) {
  json::object file = good();
  file["model"].as_object()[key] = std::move(value);
  return refusal(file);
}

std::string with(std::string_view key, json::value value) {
  json::object file = good();
  file[key] = std::move(value);
  return refusal(file);
}

TEST(TokenizerFileTest, AcceptsAnOrdinaryOne) {
  EXPECT_EQ(refusal(good()), "accepted");
  EXPECT_EQ(with("post_processor",
                 json::object{{"type", "Sequence"},
                              {"processors", json::array{json::object{{"type", "ByteLevel"}}}}}),
            "accepted");
  EXPECT_EQ(with("normalizer", json::object{{"type", "Sequence"}, {"normalizers", json::array{}}}),
            "accepted");
  for (const char* form : {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}) {
    EXPECT_EQ(with("normalizer", json::object{{"type", form}}), "accepted") << form;
  }
  EXPECT_EQ(with("normalizer", normalizers({"NFKC", "Lowercase"})), "accepted");
  EXPECT_EQ(with_model("unk_token", "<|endoftext|>"), "accepted") << "every byte has a token";
  EXPECT_EQ(with_model("continuing_subword_prefix", ""), "accepted");
  EXPECT_EQ(
      with("pre_tokenizer", sequence({json::object{{"type", "Digits"}, {"individual_digits", true}},
                                      json::object{{"type", "Split"},
                                                   {"pattern", json::object{{"String", "."}}},
                                                   {"behavior", "Removed"},
                                                   {"invert", false}},
                                      byte_level(false, false)})),
      "accepted");
}

TEST(TokenizerFileTest, NamesWhatItDoesNotSupport) {
  EXPECT_THAT(with_model("type", "Unigram"), HasSubstr("model.type: 'Unigram'"));
  EXPECT_THAT(with_model("byte_fallback", true), HasSubstr("model.byte_fallback: true"));
  EXPECT_THAT(with_model("dropout", 0.1), HasSubstr("model.dropout"));
  EXPECT_THAT(with_model("end_of_word_suffix", "</w>"), HasSubstr("model.end_of_word_suffix"));
  EXPECT_THAT(with_model("something", 1), HasSubstr("model.something: is not a key known here"));
  EXPECT_THAT(with("normalizer", json::object{{"type", "BertNormalizer"}}),
              HasSubstr("normalizer: 'BertNormalizer' is not supported"));
  EXPECT_THAT(with("normalizer", json::object{{"type", "NFC"}, {"form", "C"}}),
              HasSubstr("normalizer.form: is not a key known here"));
  EXPECT_THAT(with("normalizer", "NFC"), HasSubstr("normalizer: is not an object"));
  EXPECT_THAT(with("normalizer", json::object{{"type", "Sequence"}}),
              HasSubstr("normalizer.normalizers"));
  for (const char* other : {"StripAccents", "Sequence", "Precompiled"}) {
    EXPECT_THAT(with("normalizer", normalizers({"NFC", other})),
                HasSubstr(fmt::format("normalizer.normalizers[1]: '{}' is not supported", other)));
  }
  EXPECT_THAT(with("pre_tokenizer", nullptr), HasSubstr("pre_tokenizer: is missing"));
  EXPECT_THAT(with("pre_tokenizer", split("a")), HasSubstr("has no ByteLevel"));
  EXPECT_THAT(with("pre_tokenizer", sequence({byte_level(false, true), split("a")})),
              HasSubstr("pretokenizers[1]: comes after ByteLevel"));
  EXPECT_THAT(with("pre_tokenizer", sequence({split("(")})),
              HasSubstr("pre_tokenizer.pretokenizers[0].pattern: the pattern cannot be used"));
  EXPECT_THAT(with("pre_tokenizer", sequence({split("a", "Sideways"), byte_level(false, true)})),
              HasSubstr("pretokenizers[0].behavior: 'Sideways'"));
  EXPECT_THAT(with("pre_tokenizer", sequence({split(std::string(100'000, 'x'))})),
              HasSubstr("longer than"));
  EXPECT_THAT(with("decoder", json::object{{"type", "WordPiece"}}), HasSubstr("'WordPiece'"));
  EXPECT_THAT(with("post_processor", json::object{{"type", "Magic"}}), HasSubstr("'Magic'"));
  EXPECT_THAT(with("truncation", json::object{{"max_length", 5}}), HasSubstr("truncation"));
  EXPECT_THAT(with("version", "2.0"), HasSubstr("version: is '2.0'"));
  EXPECT_THAT(with("model", nullptr), HasSubstr("model: is missing"));
  EXPECT_THAT(with("models", 1), HasSubstr("did you mean 'model'?"));
}

TEST(TokenizerFileTest, NamesWhatContradictsItself) {
  EXPECT_THAT(with_model("merges", json::array{"a zz"}),
              HasSubstr("model.merges[0]: names 'zz', which vocab does not have"));
  EXPECT_THAT(with_model("merges", json::array{"a b", "x y"}),
              HasSubstr("model.merges[1]: names 'xy'"));
  for (const json::value& bad : {json::value("ab"), json::value("a b c"), json::value(1),
                                 json::value(json::array{"a"}), json::value(json::array{1, 2})}) {
    EXPECT_THAT(with_model("merges", json::array{bad}), HasSubstr("model.merges[0]: is neither"));
  }
  EXPECT_THAT(with_model("merges", nullptr), HasSubstr("model.merges"));
  EXPECT_THAT(with_model("vocab", json::object{{"a", 0}, {"b", 0}}),
              HasSubstr("'a' and 'b' both have the id 0"));
  for (const json::value& bad : {json::value(-1), json::value(max_vocabulary), json::value(1.5),
                                 json::value("1"), json::value(UINT64_MAX)}) {
    EXPECT_THAT(with_model("vocab", json::object{{"a", bad}}), HasSubstr("has the id"));
  }
  EXPECT_THAT(with_model("vocab", json::object{}), HasSubstr("is empty"));
  EXPECT_THAT(with_model("vocab", json::object{{"", 1}}), HasSubstr("has 0 bytes"));
}

TEST(TokenizerFileTest, AddedTokensMustFitTheVocabulary) {
  const auto with_added = [](json::array list) { return with("added_tokens", std::move(list)); };
  EXPECT_EQ(with_added({added('x', "x")}), "accepted") << "one that vocab has too";
  EXPECT_THAT(with_added({added('x', "<s>")}), HasSubstr("'<s>' with the id 120 contradicts"));
  EXPECT_THAT(with_added({added(300, "x")}), HasSubstr("contradicts"));
  EXPECT_THAT(with_added({added(300, "<s>"), added(300, "<t>")}), HasSubstr("added_tokens[1]"));
  EXPECT_THAT(with_added({added(300, "<s>"), added(301, "<s>")}), HasSubstr("added_tokens[1]"));
  EXPECT_THAT(with_added({added(300, "")}), HasSubstr("has 0 bytes"));
  EXPECT_THAT(with_added({added(max_vocabulary, "<s>")}), HasSubstr("has the id"));
}

TEST(TokenizerFileTest, TokensThatNormaliseToTheSameContradictEachOther) {
  json::object file = good();
  json::object one = added(300, "<\u00E9>");
  json::object two = added(301, "<e\u0301>");
  file["added_tokens"] = json::array{one, two};
  file["normalizer"] = json::object{{"type", "NFC"}};
  EXPECT_EQ(refusal(file), "accepted") << "they are found in the text as it is";
  one["normalized"] = two["normalized"] = true;
  file["added_tokens"] = json::array{one, two};
  EXPECT_THAT(refusal(file), HasSubstr("are the same token once they are normalised"));
  file["normalizer"] = nullptr;
  EXPECT_EQ(refusal(file), "accepted");
}

std::string llama_with(std::string_view key, json::value value) {
  json::object file = llama_json();
  file[key] = std::move(value);
  return refusal(file);
}

json::object step(const char* type) { return {{"type", type}}; }

json::object decoders(json::array steps) {
  return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

json::object strip(const char* content, int start, int stop) {
  return {{"type", "Strip"}, {"content", content}, {"start", start}, {"stop", stop}};
}

json::object replace(json::object pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", std::move(pattern)}, {"content", content}};
}

TEST(CharacterFileTest, AcceptsOrdinaryOnes) {
  EXPECT_EQ(refusal(llama_json()), "accepted");
  for (const char* scheme : {"always", "first", "never"}) {
    json::object file = metaspace_json(metaspace(scheme));
    EXPECT_EQ(refusal(file), "accepted");
    file["decoder"] = metaspace(scheme);
    EXPECT_EQ(refusal(file), "accepted");
  }
  EXPECT_EQ(llama_with("pre_tokenizer", sequence({split("[0-9]"), metaspace("first")})),
            "accepted");
  EXPECT_EQ(llama_with("decoder", decoders({step("ByteFallback"), step("Fuse")})), "accepted");
}

TEST(CharacterFileTest, NamesWhatItDoesNotSupport) {
  // Gemma's.
  EXPECT_THAT(llama_with("pre_tokenizer", json::object{{"type", "Split"},
                                                       {"pattern", json::object{{"String", " "}}},
                                                       {"behavior", "MergedWithPrevious"},
                                                       {"invert", false}}),
              HasSubstr("pre_tokenizer: has no ByteLevel and no Metaspace"));
  for (const char* type : {"Unigram", "WordPiece", "WordLevel"}) {
    json::object file = llama_json();
    file["model"] = json::object{{"type", type}};
    EXPECT_THAT(refusal(file), HasSubstr(fmt::format("model.type: '{}' is not supported", type)));
  }
  EXPECT_THAT(llama_with("decoder", nullptr), HasSubstr("pre_tokenizer: is missing"));
  EXPECT_THAT(llama_with("decoder", byte_level(false, true)),
              HasSubstr("pre_tokenizer: is missing; a byte-level vocabulary needs one"));
  EXPECT_THAT(llama_with("decoder", step("WordPiece")), HasSubstr("decoder: 'WordPiece'"));
  EXPECT_THAT(llama_with("decoder", decoders({step("Fuse"), step("ByteFallback")})),
              HasSubstr("decoder.decoders[1]: 'ByteFallback' is not supported at this place"));
  EXPECT_THAT(llama_with("decoder", decoders({strip(" ", 1, 0)})), HasSubstr("right after Fuse"));
  EXPECT_THAT(llama_with("decoder", decoders({step("Fuse"), strip(" ", 2, 0)})),
              HasSubstr("decoders[1].start"));
  EXPECT_THAT(llama_with("decoder", decoders({step("Fuse"), strip(" ", 1, 1)})),
              HasSubstr("decoders[1].stop"));
  EXPECT_THAT(llama_with("decoder", decoders({step("Fuse"), strip("_", 1, 0)})),
              HasSubstr("decoders[1].content"));
  EXPECT_THAT(llama_with("normalizer", replace(json::object{{"Regex", " +"}}, "_")),
              HasSubstr("normalizer.pattern.Regex: is not supported here"));
  EXPECT_THAT(llama_with("normalizer", replace(json::object{{"String", ""}}, "_")),
              HasSubstr("normalizer.pattern.String: has 0 bytes"));
  EXPECT_THAT(
      llama_with(
          "normalizer",
          json::object{{"type", "Sequence"},
                       {"normalizers",
                        json::array{replace(json::object{{"String", "a"}}, std::string(60, 'a')),
                                    replace(json::object{{"String", "a"}}, "aa")}}}),
      HasSubstr("normalizer: may make a text more than 64 times as long"));
  EXPECT_THAT(llama_with("normalizer", json::object{{"type", "Prepend"}}),
              HasSubstr("normalizer.prepend: has 0 bytes"));
  EXPECT_THAT(llama_with("pre_tokenizer", sequence({metaspace("first"), byte_level(true, true)})),
              HasSubstr("pretokenizers[1]: comes after Metaspace"));
}

TEST(CharacterFileTest, NamesWhatContradictsItself) {
  json::object rule = metaspace("first");
  rule["add_prefix_space"] = false;
  EXPECT_THAT(refusal(metaspace_json(rule)), HasSubstr("pre_tokenizer.add_prefix_space"));
  rule = metaspace("sometimes");
  EXPECT_THAT(refusal(metaspace_json(rule)), HasSubstr("prepend_scheme: 'sometimes'"));
  rule = metaspace("first");
  rule["replacement"] = "__";
  EXPECT_THAT(refusal(metaspace_json(rule)), HasSubstr("replacement: is not one character"));
  EXPECT_THAT(llama_with("decoder", rule), HasSubstr("decoder.replacement"));
  json::object gone = llama_json();
  gone["added_tokens"].as_array()[1].as_object()["normalized"] = true;
  gone["normalizer"] = replace(json::object{{"String", "<s>"}}, "");
  EXPECT_THAT(refusal(gone), HasSubstr("added_tokens: nothing is left of '<s>'"));
  rule = metaspace("first");
  rule["str_rep"] = "_";
  EXPECT_THAT(refusal(metaspace_json(rule)), HasSubstr("pre_tokenizer.str_rep"));
  json::object file = llama_json();
  file["model"].as_object()["unk_token"] = "<what>";
  EXPECT_THAT(refusal(file), HasSubstr("model.unk_token: is '<what>', which vocab does not have"));
}

TEST(TokenizerFileTest, EveryCutOffFileIsRefused) {
  json::object file = good();
  file["model"].as_object()["vocab"] = json::object{{"a", 0}, {"b", 1}, {"ab", 2}};
  file["model"].as_object()["merges"] = json::array{"a b"};
  const std::string text = json::serialize(file);
  ASSERT_TRUE(parse_tokenizer(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_tokenizer(std::string_view(text).substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_tokenizer("[]"));
  EXPECT_FALSE(parse_tokenizer(std::string(100'000, '[')));
}

}  // namespace
}  // namespace trainward::trainer
