#include "trainer/tokenizer/byte_tokenizer.hpp"

#include "common/base/digest.hpp"

namespace trainward::trainer {

ByteTokenizer::ByteTokenizer() : digest_(sha256_hex("trainward tokenizer 1\nbyte\n")) {}

Status ByteTokenizer::encode_watched(std::string_view text, std::vector<TokenId>& out,
                                     const Watch& /*watch: quicker than reading*/) {
  out.reserve(out.size() + text.size());
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return {};
}

Result<std::string> ByteTokenizer::decode(std::span<const TokenId> ids) const {
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
