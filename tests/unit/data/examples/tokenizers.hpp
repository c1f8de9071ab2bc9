// Two small tokenizers for tests of examples: one in bytes with ChatML's special tokens, as Qwen's
// is made, and one in characters, as Llama 2's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/json.hpp"
#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "vocabulary.hpp"

namespace trainward::trainer {

inline std::unique_ptr<Tokenizer> made(const json::object& file) {
  return BpeTokenizer::make(parse_tokenizer(json::serialize(file)).value(), "test", "").value();
}

// Bytes are their ids; then the merges; then <|endoftext|>, <|im_start|>, <|im_end|>.
inline json::object chatml_json(const Merges& merges = {}) {
  json::object file = tokenizer_json(merges, byte_level(false, true));
  json::array& list = file["added_tokens"].as_array();
  const std::int64_t end = list[0].at("id").as_int64();
  list.push_back(added(end + 1, "<|im_start|>"));
  list.push_back(added(end + 2, "<|im_end|>"));
  return file;
}

// <unk> 0, <s> 1, </s> 2, the bytes from 3, then the pieces of one character and those that merges
// make. <s> belongs before every text.
inline json::object llama2_json() {
  json::object vocabulary{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = byte + 3;
  std::vector<std::string> pieces{"▁"};
  for (char c = '!'; c <= '~'; ++c) pieces.emplace_back(1, c);
  pieces.insert(pieces.end(), {"▁H", "▁Hi", "▁y", "▁yo", "Hi", "yo"});
  for (const std::string& piece : pieces) vocabulary[piece] = vocabulary.size();
  json::array merges;
  for (const char* pair : {"▁ H", "▁H i", "▁ y", "▁y o", "H i", "y o"}) merges.emplace_back(pair);
  const auto replace = [](const char* from, const char* to) {
    return json::object{
        {"type", "Replace"}, {"pattern", json::object{{"String", from}}}, {"content", to}};
  };
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", json::array{added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")}},
      {"normalizer",
       json::object{{"type", "Sequence"},
                    {"normalizers", json::array{json::object{{"type", "Prepend"}, {"prepend", "▁"}},
                                                replace(" ", "▁")}}}},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       json::object{
           {"type", "TemplateProcessing"},
           {"single",
            json::array{json::object{{"SpecialToken", json::object{{"id", "<s>"}, {"type_id", 0}}}},
                        json::object{{"Sequence", json::object{{"id", "A"}, {"type_id", 0}}}}}},
           {"pair", json::array{}},
           {"special_tokens",
            json::object{{"<s>", json::object{{"id", "<s>"},
                                              {"ids", json::array{1}},
                                              {"tokens", json::array{"<s>"}}}}}}}},
      {"decoder",
       json::object{
           {"type", "Sequence"},
           {"decoders",
            json::array{replace("▁", " "), json::object{{"type", "ByteFallback"}},
                        json::object{{"type", "Fuse"}},
                        json::object{
                            {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
      {"model", json::object{{"type", "BPE"},
                             {"dropout", nullptr},
                             {"unk_token", "<unk>"},
                             {"continuing_subword_prefix", nullptr},
                             {"end_of_word_suffix", nullptr},
                             {"fuse_unk", true},
                             {"byte_fallback", true},
                             {"ignore_merges", false},
                             {"vocab", std::move(vocabulary)},
                             {"merges", std::move(merges)}}}};
}

inline std::vector<TokenId> encoded(Tokenizer& tokenizer, std::string_view text,
                                    const EncodeOptions& options = {}) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(tokenizer.encode(text, ids, options));
  return ids;
}

}  // namespace trainward::trainer
