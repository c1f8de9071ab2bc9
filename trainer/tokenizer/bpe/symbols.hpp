// What a piece is made of before anything is merged.
//
// In: a piece, any bytes. Out: the tokens of its bytes; or, where the vocabulary is spelt in
// characters, those of its characters. A character that is no token, and a byte that belongs to
// none, becomes <0xNN> tokens, one a byte, where the file wants that and has them all, else the
// token for what is unknown, which may stand for a run. Immutable once built; any number of
// threads. Errors: corrupt, when there is no token; `out` is then longer by some.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {

class Symbols {
 public:
  explicit Symbols(const TokenizerFile& file);

  Status append(std::string_view piece, std::vector<TokenId>& out) const {
    return spelling_ == Spelling::bytes ? append_bytes(piece, out) : append_characters(piece, out);
  }

 private:
  static constexpr TokenId none = -1;

  Status append_bytes(std::string_view piece, std::vector<TokenId>& out) const;
  Status append_characters(std::string_view piece, std::vector<TokenId>& out) const;
  [[nodiscard]] TokenId of_character(std::string_view character) const;
  bool fall_back(std::string_view character, std::vector<TokenId>& out) const;

  Spelling spelling_;
  std::array<TokenId, 256> bytes_{};  // <0xNN> where characters are spelt
  std::vector<TokenId> characters_;   // by code point
  std::optional<TokenId> unknown_;
  bool fuse_unknown_;
};

}  // namespace trainward::trainer
