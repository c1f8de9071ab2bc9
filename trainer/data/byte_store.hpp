// Byte tokens: the text itself, one byte a token, and where its documents end.
//
// Memory: one byte a token and eight a document, at most `max_bytes` of text; more is an error of
// kind usage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/token_store.hpp"

namespace trainward::trainer {

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

}  // namespace trainward::trainer
