// What the tokens of a file are called, and what they decode to.
//
// In: a tokenizer.json that was read; then ids, or a name. Out: bytes, or the id. Immutable once
// built; any number of threads. Errors: usage, when no token has an id.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {

class TokenTexts {
 public:
  explicit TokenTexts(const TokenizerFile& file);

  // By the name exactly as the file writes it.
  [[nodiscard]] std::optional<TokenId> find(std::string_view name) const;
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids,
                                           const DecodeOptions& options) const;
  [[nodiscard]] bool is_added(TokenId id) const {
    return tokens_[static_cast<std::size_t>(id)].kind != Kind::ordinary;
  }

 private:
  enum class Kind { ordinary, added, special };
  struct Token {
    std::optional<std::string> name;  // nothing: no token has the id
    std::string text;                 // what it decodes to
    Kind kind = Kind::ordinary;
  };

  std::vector<Token> tokens_;  // by id
  bool strip_;                 // decoding takes a space from the beginning of a text
};

}  // namespace trainward::trainer
