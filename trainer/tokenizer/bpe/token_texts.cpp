#include "trainer/tokenizer/bpe/token_texts.hpp"

#include <algorithm>

#include "trainer/tokenizer/tokens/byte_characters.hpp"

namespace trainward::trainer {
namespace {

std::string of_bytes(const std::string& name) {
  // One with characters that stand for no byte never comes out of merging.
  return bytes_of_token(name).value_or(name);
}

std::string of_characters(const std::string& name, const DecoderRule& decoder) {
  std::string text = name;
  for (const Replace& rule : decoder.replace) text = replaced(text, rule);
  const auto byte = decoder.byte_fallback ? byte_of_name(text) : std::nullopt;
  return byte ? std::string(1, static_cast<char>(*byte)) : text;
}

}  // namespace

TokenTexts::TokenTexts(const TokenizerFile& file)
    : tokens_(static_cast<std::size_t>(file.vocabulary())), strip_(file.decoder.strip) {
  const bool bytes = file.spelling == Spelling::bytes;
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    const auto& name = file.tokens[id];
    if (!name) continue;
    tokens_[id] = {name, bytes ? of_bytes(*name) : of_characters(*name, file.decoder)};
  }
  for (const AddedToken& token : file.added) {
    // Added ones are not spelt in bytes, even there.
    tokens_[static_cast<std::size_t>(token.id)] = {
        token.content, bytes ? token.content : of_characters(token.content, file.decoder),
        token.special ? Kind::special : Kind::added};
  }
}

std::optional<TokenId> TokenTexts::find(std::string_view name) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const Token& token) { return token.name == name; });
  if (found == tokens_.end()) return std::nullopt;
  return static_cast<TokenId>(found - tokens_.begin());
}

Result<std::string> TokenTexts::decode(std::span<const TokenId> ids,
                                       const DecodeOptions& options) const {
  std::string text;
  for (const TokenId id : ids) {
    const auto at = static_cast<std::size_t>(id);
    if (id < 0 || at >= tokens_.size() || !tokens_[at].name) {
      return fail(ErrorKind::usage, fmt::format("no token has the id {}", id));
    }
    if (options.special || tokens_[at].kind != Kind::special) text += tokens_[at].text;
  }
  if (strip_ && options.begins && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace trainward::trainer
