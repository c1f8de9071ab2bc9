// A corpus in memory, as it grows while the data is read.
//
// At most `max_bytes`; more is an error of kind usage.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/data/token_store.hpp"

namespace trainward::trainer {

// Byte tokens: the text itself, one byte a token, and where its documents end.
//
// Memory: one byte a token and eight a document.
class ByteStore final : public GrowingStore {
 public:
  // `expected_bytes`: growing by doubling would take up to three times the text while it is read.
  ByteStore(std::uint64_t expected_bytes, std::uint64_t max_bytes);

  Status add_document(std::string_view text, const Tokenizer::Watch& watch) override;
  [[nodiscard]] std::int64_t tokens() const override {
    return static_cast<std::int64_t>(text_.size());
  }
  [[nodiscard]] std::string digest() const override;
  Status copy(std::int64_t from, std::span<TokenId> out) const override;

 private:
  std::uint64_t max_bytes_;
  bool any_ = false;
  std::string text_;                          // a zero byte where a document ends
  std::vector<std::uint64_t> document_ends_;  // positions of the end-of-text tokens, ascending
};

// Tokens of a vocabulary: two bytes each where the vocabulary allows, else four.
//
// Grows a piece of 8 MiB at a time, so nothing is ever copied. The tokenizer is borrowed while
// documents are added.
class TokenBuffer final : public GrowingStore {
 public:
  TokenBuffer(Tokenizer& tokenizer, std::uint64_t max_bytes);

  Status add_document(std::string_view text, const Tokenizer::Watch& watch) override;
  [[nodiscard]] std::int64_t tokens() const override { return tokens_; }
  [[nodiscard]] std::string digest() const override;
  Status copy(std::int64_t from, std::span<TokenId> out) const override;

 private:
  template <typename Element>
  using Pieces = std::vector<std::vector<Element>>;

  void push(std::span<const TokenId> tokens);

  Tokenizer* tokenizer_;
  std::string tokenizer_digest_;
  TokenId end_of_text_;
  std::uint64_t max_bytes_;
  std::uint64_t width_;
  bool any_ = false;
  std::int64_t tokens_ = 0;
  std::variant<Pieces<std::uint16_t>, Pieces<std::uint32_t>> pieces_;
  std::vector<TokenId> document_;  // scratch
};

}  // namespace trainward::trainer
