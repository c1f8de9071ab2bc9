#include "trainer/tokenizer/file/tokenizer_file.hpp"

#include <algorithm>
#include <map>

#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"

namespace trainward::trainer {
namespace {

Status check_absent(const json::object& root, std::string_view key) {
  if (member(root, key) == nullptr) return {};
  return fail(ErrorKind::usage, "is for models that are asked, not for training text",
              std::string(key), "set it to null");
}

// Those that are looked for in normalised text are normalised themselves: two may become the same.
Status check_normalized_tokens(const TokenizerFile& file) {
  const Normalizer normalizer(file.normalizer);
  std::map<std::string, std::string_view> contents;
  for (const AddedToken& token : file.added) {
    if (!token.normalized) continue;
    std::string storage;
    const std::string content(normalizer.apply(token.content, storage));
    if (content.empty()) {
      return fail(ErrorKind::corrupt,
                  fmt::format("nothing is left of '{}' once it is normalised", token.content),
                  "added_tokens");
    }
    const auto [other, is_new] = contents.emplace(content, token.content);
    if (is_new) continue;
    return fail(ErrorKind::corrupt,
                fmt::format("'{}' and '{}' are the same token once they are normalised",
                            other->second, token.content),
                "added_tokens");
  }
  return {};
}

// Without a pre-tokenizer the decoder tells how the vocabulary is spelt.
Status read_spelling(const json::object& root, TokenizerFile& file) {
  const json::value* rules = member(root, "pre_tokenizer");
  const json::value* decoder = member(root, "decoder");
  if (rules != nullptr) {
    if (auto ok = read_pre_tokenizer(*rules, file); !ok) return ok;
  } else {
    file.spelling = Spelling::characters;
    if (decoder == nullptr || type_of(*decoder) == "ByteLevel") {
      return fail(ErrorKind::usage, "is missing; a byte-level vocabulary needs one",
                  "pre_tokenizer");
    }
  }
  if (decoder != nullptr) return read_decoder(*decoder, file);
  if (file.spelling == Spelling::bytes) return {};
  return fail(ErrorKind::usage, "is missing; a vocabulary of characters needs one", "decoder");
}

}  // namespace

std::int64_t TokenizerFile::vocabulary() const {
  auto size = static_cast<std::int64_t>(tokens.size());
  for (const AddedToken& token : added) size = std::max(size, std::int64_t{token.id} + 1);
  return size;
}

std::optional<TokenId> TokenizerFile::find(std::string_view content) const {
  for (const AddedToken& token : added) {
    if (token.content == content) return token.id;
  }
  const auto found = std::find(tokens.begin(), tokens.end(), content);
  if (found == tokens.end()) return std::nullopt;
  return static_cast<TokenId>(found - tokens.begin());
}

Result<TokenizerFile> parse_tokenizer(std::string_view text) {
  if (text.size() > max_tokenizer_bytes) {
    return fail(ErrorKind::usage,
                fmt::format("is longer than the {} bytes allowed", max_tokenizer_bytes));
  }
  auto parsed = parse_json(text, "");
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::corrupt, "is not a JSON object");
  const json::object& root = parsed->get_object();
  StrictObject keys(root, "");
  for (const std::string_view key : {"version", "truncation", "padding", "added_tokens",
                                     "normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    keys.leave(key);
  }
  const json::object* model = keys.object("model");
  if (model == nullptr) keys.complain("model", "is missing", "is this a tokenizer.json?");
  if (auto ok = keys.finish(); !ok) return propagate(ok);
  if (const std::string version = string_or(root, "version", "1.0"); version != "1.0") {
    return fail(ErrorKind::usage, fmt::format("is '{}', expected '1.0'", version), "version");
  }
  TokenizerFile file;
  for (const std::string_view key : {"truncation", "padding"}) {
    if (auto ok = check_absent(root, key); !ok) return propagate(ok);
  }
  if (auto ok = read_spelling(root, file); !ok) return propagate(ok);
  if (const json::value* normalizer = member(root, "normalizer")) {
    if (auto ok = read_normalizer(*normalizer, file); !ok) return propagate(ok);
  }
  if (auto ok = read_model(*model, file); !ok) return propagate(ok);
  if (const json::value* added = member(root, "added_tokens")) {
    if (auto ok = read_added_tokens(*added, file); !ok) return propagate(ok);
    if (auto ok = check_normalized_tokens(file); !ok) return propagate(ok);
  }
  if (const json::value* around = member(root, "post_processor")) {
    if (auto ok = read_post_processor(*around, file); !ok) return propagate(ok);
  }
  return file;
}

}  // namespace trainward::trainer
