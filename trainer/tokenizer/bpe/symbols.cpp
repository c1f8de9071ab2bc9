#include "trainer/tokenizer/bpe/symbols.hpp"

#include <algorithm>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"
#include "trainer/tokenizer/tokens/byte_characters.hpp"

namespace trainward::trainer {

Symbols::Symbols(const TokenizerFile& file)
    : spelling_(file.spelling), unknown_(file.unknown), fuse_unknown_(file.fuse_unknown) {
  bytes_.fill(none);
  for (std::size_t i = 0; i < file.tokens.size(); ++i) {
    if (!file.tokens[i]) continue;
    const std::string& token = *file.tokens[i];
    const auto id = static_cast<TokenId>(i);
    if (spelling_ == Spelling::bytes) {
      const auto bytes = token.size() <= 2 ? bytes_of_token(token) : std::nullopt;
      if (bytes && bytes->size() == 1) bytes_[static_cast<unsigned char>(bytes->front())] = id;
      continue;
    }
    if (utf8_character(token) == token.size()) {
      const std::size_t at = utf8_code_point(token);
      if (characters_.size() <= at) characters_.resize(at + 1, none);
      characters_[at] = id;
    }
    // Encoding knows upper-case names alone, decoding others too.
    const auto byte = file.byte_fallback ? byte_of_name(token) : std::nullopt;
    if (byte && token == fmt::format("<0x{:02X}>", *byte)) bytes_[*byte] = id;
  }
}

Status Symbols::append_bytes(std::string_view piece, std::vector<TokenId>& out) const {
  for (const char byte : piece) {
    const TokenId token = bytes_[static_cast<unsigned char>(byte)];
    if (token < 0) {
      return fail(
          ErrorKind::corrupt,
          fmt::format("the text holds the byte 0x{:02X}, for which the vocabulary has no token",
                      static_cast<unsigned char>(byte)));
    }
    out.push_back(token);
  }
  return {};
}

TokenId Symbols::of_character(std::string_view character) const {
  const std::size_t at = utf8_code_point(character);
  return at < characters_.size() ? characters_[at] : none;
}

bool Symbols::fall_back(std::string_view character, std::vector<TokenId>& out) const {
  const auto token_of = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (!std::all_of(character.begin(), character.end(),
                   [&](char byte) { return token_of(byte) != none; })) {
    return false;
  }
  for (const char byte : character) out.push_back(token_of(byte));
  return true;
}

Status Symbols::append_characters(std::string_view piece, std::vector<TokenId>& out) const {
  bool after_unknown = false;
  while (!piece.empty()) {
    const std::size_t valid = utf8_character(piece);
    const std::string_view character = piece.substr(0, std::max<std::size_t>(valid, 1));
    piece.remove_prefix(character.size());
    const TokenId token = valid == 0 ? none : of_character(character);
    if (token != none) {
      out.push_back(token);
    } else if (fall_back(character, out)) {
    } else if (!unknown_) {
      return fail(ErrorKind::corrupt,
                  fmt::format("the text holds '{}', for which the vocabulary has no token",
                              valid_utf8(std::string(character))));
    } else {
      if (!after_unknown || !fuse_unknown_) out.push_back(*unknown_);
      after_unknown = true;
      continue;
    }
    after_unknown = false;
  }
  return {};
}

}  // namespace trainward::trainer
