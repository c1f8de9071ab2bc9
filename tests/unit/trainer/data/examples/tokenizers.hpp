// Two small tokenizers for tests of examples: one in bytes with ChatML's special tokens, as Qwen's
// is made, and one in characters, as Llama 2's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "llama_vocabulary.hpp"
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
  json::object file = llama_json({}, {});
  json::object& model = file["model"].as_object();
  model["vocab"] = std::move(vocabulary);
  model["merges"] = std::move(merges);
  return file;
}

inline std::vector<TokenId> encoded(Tokenizer& tokenizer, std::string_view text,
                                    const EncodeOptions& options = {}) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(tokenizer.encode(text, ids, options));
  return ids;
}

}  // namespace trainward::trainer
