// What belongs around a text, which of the files says so, and how tokens are looked up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llama_vocabulary.hpp"
#include "made_tokenizer.hpp"
#include "temporary_folder.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"
#include "trainer/tokenizer/file/tokenizer_config.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json::object in_sequence(json::array processors) {
  return {{"type", "Sequence"}, {"processors", std::move(processors)}};
}

json::object with_post_processor(json::value value) {
  json::object file = llama_json();
  file["post_processor"] = std::move(value);
  return file;
}

std::string refusal(json::value post_processor) {
  auto parsed = parse_tokenizer(json::serialize(with_post_processor(std::move(post_processor))));
  return parsed ? "accepted" : parsed.error().message();
}

TEST(AroundTextTest, AsThePostProcessorSays) {
  const auto tokenizer = made_of(llama_json());
  EXPECT_THAT(tokenizer->before_text(), ElementsAre(1));
  EXPECT_THAT(tokenizer->after_text(), IsEmpty());
  EXPECT_THAT(encode(*tokenizer, "hello"), ElementsAre(269)) << "the caller adds them";

  const auto none = made_of(with_post_processor(nullptr));
  EXPECT_THAT(none->before_text(), IsEmpty());
  EXPECT_THAT(none->after_text(), IsEmpty());

  // Llama 3's, over bytes.
  json::object bytes = tokenizer_json({}, byte_level(false, true));
  json::object begin = llama_template();
  begin["special_tokens"].as_object()["<s>"].as_object()["ids"] = json::array{256};
  bytes["post_processor"] = in_sequence({byte_level(true, true), begin});
  EXPECT_THAT(made_of(bytes)->before_text(), ElementsAre(256));
  bytes["post_processor"] = byte_level(true, true);
  EXPECT_THAT(made_of(bytes)->before_text(), IsEmpty()) << "Qwen's";
  EXPECT_THAT(ByteTokenizer().before_text(), IsEmpty());
  EXPECT_THAT(ByteTokenizer().after_text(), IsEmpty());
}

TEST(AroundTextTest, BothSidesAndSeveralProcessors) {
  json::object both = llama_template();
  both["single"].as_array().push_back(
      json::object{{"SpecialToken", json::object{{"id", "</s>"}, {"type_id", 0}}}});
  both["special_tokens"].as_object()["</s>"] = json::object{
      {"id", "</s>"}, {"ids", json::array{2, 0}}, {"tokens", json::array{"</s>", "x"}}};
  const auto one = made_of(with_post_processor(both));
  EXPECT_THAT(one->before_text(), ElementsAre(1));
  EXPECT_THAT(one->after_text(), ElementsAre(2, 0));
  const json::object pair{{"type", "RobertaProcessing"},
                          {"cls", json::array{"<unk>", 0}},
                          {"sep", json::array{"</s>", 2}},
                          {"trim_offsets", true},
                          {"add_prefix_space", false}};
  const auto two = made_of(with_post_processor(in_sequence({pair, both})));
  EXPECT_THAT(two->before_text(), ElementsAre(1, 0)) << "the later one is outside";
  EXPECT_THAT(two->after_text(), ElementsAre(2, 2, 0));
}

TEST(AroundTextTest, RefusesWhatIsNoTemplate) {
  const auto with = [](std::string_view key, json::value value) {
    json::object file = llama_template();
    file[key] = std::move(value);
    return refusal(file);
  };
  const json::object text{{"Sequence", json::object{{"id", "A"}, {"type_id", 0}}}};
  const json::object second{{"Sequence", json::object{{"id", "B"}, {"type_id", 0}}}};
  const json::object other{{"SpecialToken", json::object{{"id", "<x>"}, {"type_id", 0}}}};
  EXPECT_THAT(with("single", nullptr), HasSubstr("post_processor.single"));
  EXPECT_THAT(with("single", json::array{}), HasSubstr("single: has no place for the text"));
  EXPECT_THAT(with("single", json::array{text, text}), HasSubstr("single[1]: is not the text A"));
  EXPECT_THAT(with("single", json::array{second}), HasSubstr("single[0]: is not the text A"));
  EXPECT_THAT(with("single", json::array{other}), HasSubstr("has no ids for '<x>'"));
  EXPECT_THAT(with("single", json::array{1}), HasSubstr("single[0]: is neither"));
  EXPECT_THAT(with("special_tokens", 1), HasSubstr("post_processor.special_tokens"));
  for (const json::value& id :
       {json::value(-1), json::value(291), json::value("1"), json::value(UINT64_MAX)}) {
    json::object file = llama_template();
    file["special_tokens"].as_object()["<s>"].as_object()["ids"] = json::array{id};
    EXPECT_THAT(refusal(file), HasSubstr("which no token has"));
  }
  EXPECT_THAT(refusal(json::object{{"type", "BertProcessing"}}), HasSubstr("post_processor.cls"));
  EXPECT_THAT(refusal(in_sequence({json::object{{"type", "Magic"}}})),
              HasSubstr("post_processor.processors[0]: 'Magic' is not supported"));
  json::object deep = byte_level(true, true);
  for (int i = 0; i < 6; ++i) deep = in_sequence({deep});
  EXPECT_THAT(refusal(deep), HasSubstr("'Sequence' is not supported"));
}

TEST(TokenizerConfigTest, OverridesThePostProcessor) {
  const TemporaryFolder folder;
  const auto path = folder.write("tokenizer.json", json::serialize(llama_json())).string();
  const auto around = [&](std::string_view config) {
    folder.write("tokenizer_config.json", config);
    auto tokenizer = open_tokenizer(path);
    EXPECT_TRUE(tokenizer) << tokenizer.error().message();
    return tokenizer ? std::pair((*tokenizer)->before_text(), (*tokenizer)->after_text())
                     : std::pair<Tokens, Tokens>();
  };
  const std::pair<Tokens, Tokens> begin{{1}, {}};
  EXPECT_EQ(std::pair(open_tokenizer(path).value()->before_text(),
                      open_tokenizer(path).value()->after_text()),
            begin)
      << "without such a file";
  EXPECT_EQ(around("{}"), begin);
  EXPECT_EQ(around(R"({"bos_token": null, "add_bos_token": null, "model_max_length": 1e30})"),
            begin);
  EXPECT_EQ(around(R"({"add_bos_token": false})"), (std::pair<Tokens, Tokens>{}));
  EXPECT_EQ(around(R"({"add_bos_token": true, "bos_token": "<s>", "add_eos_token": false})"),
            begin);
  EXPECT_EQ(around(R"({"add_eos_token": true, "eos_token": {"content": "</s>", "lstrip": false}})"),
            (std::pair<Tokens, Tokens>{{1}, {2}}));
}

TEST(TokenizerConfigTest, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto path = folder.write("tokenizer.json", json::serialize(llama_json())).string();
  const auto refused = [&](std::string_view config) {
    const auto file = folder.write("tokenizer_config.json", config).string();
    auto tokenizer = open_tokenizer(path);
    if (tokenizer) return std::string("accepted");
    EXPECT_THAT(tokenizer.error().where, HasSubstr(file));
    return tokenizer.error().message();
  };
  EXPECT_THAT(refused("{"), HasSubstr("tokenizer_config.json"));
  EXPECT_THAT(refused("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refused(R"({"add_bos_token": 1})"), HasSubstr("add_bos_token: is 1"));
  EXPECT_THAT(refused(R"({"bos_token": 1})"), HasSubstr("bos_token: is neither"));
  EXPECT_THAT(refused(R"({"bos_token": {"id": 1}})"), HasSubstr("bos_token: is neither"));
  EXPECT_THAT(refused(R"({"add_eos_token": true})"), HasSubstr("eos_token is missing"));
  EXPECT_THAT(refused(R"({"add_eos_token": true, "eos_token": "<e>"})"),
              HasSubstr("no token is called '<e>'"));
  EXPECT_EQ(refused(R"({"add_eos_token": false, "eos_token": "<e>"})"), "accepted");
}

TEST(FindTokenTest, ByWhatTheFileWrites) {
  const auto tokenizer = made_of(llama_json());
  EXPECT_EQ(tokenizer->find_token("</s>"), 2);
  EXPECT_EQ(tokenizer->find_token("▁the"), 265);
  EXPECT_EQ(tokenizer->find_token("<0x0A>"), 13);
  EXPECT_EQ(tokenizer->find_token(" the"), std::nullopt);
  EXPECT_EQ(tokenizer->find_token(""), std::nullopt);
  json::object bytes = tokenizer_json({{" ", "t"}}, byte_level(false, true));
  bytes["added_tokens"].as_array().push_back(added(400, "<|im_end|>"));
  const auto of_bytes = made_of(bytes);
  EXPECT_EQ(of_bytes->find_token("Ġt"), 256);
  EXPECT_EQ(of_bytes->find_token("<|im_end|>"), 400);
  EXPECT_EQ(ByteTokenizer().find_token("\xFF"), 255);
  EXPECT_EQ(ByteTokenizer().find_token("ab"), std::nullopt);
}

TEST(StrangersTextTest, HoldsNoAddedTokenInBytesEither) {
  json::object file = tokenizer_json({}, byte_level(false, true));
  json::object plain = added(257, "<think>");
  plain["special"] = false;
  plain["normalized"] = true;
  file["added_tokens"].as_array().push_back(plain);
  const auto tokenizer = made_of(file);
  const std::string text = "<think><|endoftext|>";
  EXPECT_THAT(encode(*tokenizer, text), ElementsAre(257, 256));
  Tokens out;
  ASSERT_TRUE(tokenizer->encode(text, out, {.special = false}));
  EXPECT_EQ(out, Tokens(text.begin(), text.end()));
}

}  // namespace
}  // namespace trainward::trainer
