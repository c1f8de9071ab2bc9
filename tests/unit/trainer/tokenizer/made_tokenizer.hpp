// Tokenizers for tests, straight from the JSON of their file.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "vocabulary.hpp"

namespace trainward::trainer {

using Tokens = std::vector<TokenId>;

inline std::unique_ptr<Tokenizer> made_of(const json::object& file, const std::string& end = {}) {
  auto parsed = parse_tokenizer(json::serialize(file));
  EXPECT_TRUE(parsed) << parsed.error().message();
  if (!parsed) return nullptr;
  auto tokenizer = BpeTokenizer::make(std::move(*parsed), "test", end);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message();
  return tokenizer ? std::move(*tokenizer) : nullptr;
}

inline Tokens encode(Tokenizer& tokenizer, std::string_view text) {
  Tokens out;
  const auto ok = tokenizer.encode(text, out);
  EXPECT_TRUE(ok) << ok.error().message();
  return out;
}

}  // namespace trainward::trainer
