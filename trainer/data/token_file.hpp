// The header of a .bin file of tokens, and how such a file is laid out.
//
//   offset size
//        0    8  "\x89TWTOK\r\n": no text begins so, and copying in text mode shows
//        8    4  version: 1
//       12    4  bytes a token: 2 or 4
//       16    8  tokens
//       24    8  documents
//       32    4  vocabulary: every id is below it
//       36    4  id of the end-of-text token, which stands between two documents
//       40   64  digest of the tokenizer, hexadecimal
//      104   64  SHA-256 of the tokens as they lie in the file, hexadecimal
//      168   24  zero
//      192   64  SHA-256 of bytes 0 to 191, hexadecimal
//      256       the tokens, to the end of the file
//
// Numbers are little-endian. In: the first 256 bytes and the size of the file. Errors: corrupt,
// when anything is not as above; usage, for another version. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

inline constexpr std::string_view token_file_magic = "\x89TWTOK\r\n";
inline constexpr std::size_t token_header_bytes = 256;

struct TokenHeader {
  std::uint32_t width = 2;
  std::uint64_t tokens = 0;
  std::uint64_t documents = 0;
  std::int64_t vocabulary = 0;
  TokenId end_of_text = 0;
  std::string tokenizer_digest;
  std::string token_digest;

  friend bool operator==(const TokenHeader&, const TokenHeader&) = default;
};

// What a token of this vocabulary takes, in memory and in files.
constexpr std::uint32_t token_width(std::int64_t vocabulary) {
  return vocabulary <= 65'536 ? 2 : 4;
}

std::string encode(const TokenHeader& header);
Result<TokenHeader> parse_token_header(std::string_view bytes, std::uint64_t file_size);

}  // namespace trainward::trainer
