// Where a corpus keeps its tokens.
//
// One long row of ids. Immutable once made: any number of threads may look. copy() fails only when
// the tokens lie in a file and that changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/base/error.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class TokenStore {
 public:
  TokenStore() = default;
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;
  TokenStore(TokenStore&&) = delete;
  TokenStore& operator=(TokenStore&&) = delete;
  virtual ~TokenStore() = default;

  [[nodiscard]] virtual std::int64_t tokens() const = 0;
  // SHA-256 of the tokens and of what made them.
  [[nodiscard]] virtual std::string digest() const = 0;
  // `from` and what follows it up to the size of `out` must be there.
  virtual Status copy(std::int64_t from, std::span<TokenId> out) const = 0;
};

// One that documents are added to, while the data is read.
class GrowingStore : public TokenStore {
 public:
  // End of text comes before every document but the first.
  virtual Status add_document(std::string_view text, const Tokenizer::Watch& watch) = 0;
};

}  // namespace trainward::trainer
