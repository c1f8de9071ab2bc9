#include "trainer/tokenizer/byte_tokenizer.hpp"

#include "common/base/digest.hpp"

namespace trainward::trainer {

ByteTokenizer::ByteTokenizer() : digest_(sha256_hex("trainward tokenizer 1\nbyte\n")) {}

std::optional<TokenId> ByteTokenizer::find_token(std::string_view content) const {
  if (content.size() != 1) return std::nullopt;
  return static_cast<unsigned char>(content.front());
}

Status ByteTokenizer::encode_part(std::string_view text, const EncodeOptions& /*options*/,
                                  std::vector<TokenId>& out,
                                  const Watch& /*watch: quicker than reading*/) {
  out.reserve(out.size() + text.size());
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return {};
}

Result<std::string> ByteTokenizer::decode_part(std::span<const TokenId> ids,
                                               const DecodeOptions& /*options*/) const {
  std::string text;
  text.reserve(ids.size());
  for (const TokenId id : ids) {
    if (id == end) continue;
    if (id < 0 || id > end) {
      return fail(ErrorKind::usage, fmt::format("no token has the id {}", id), name_);
    }
    text += static_cast<char>(id);
  }
  return text;
}

}  // namespace trainward::trainer
