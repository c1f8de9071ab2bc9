#include "trainer/tokenizer/file/tokenizer_file.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "common/base/strict_object.hpp"

namespace trainward::trainer {
namespace {

constexpr std::array<std::string_view, 5> harmless_post_processors{
    "ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing", "Sequence"};

const json::value* member(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(json::string_view(key.data(), key.size()));
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string type_of(const json::value& value) {
  return value.is_object() ? string_or(value.get_object(), "type", "?") : "?";
}

tl::unexpected<Error> unsupported(std::string_view key, const std::string& type,
                                  std::string_view hint) {
  return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), std::string(key),
              std::string(hint));
}

Status check_absent(const json::object& root, std::string_view key) {
  if (member(root, key) == nullptr) return {};
  return fail(ErrorKind::usage, "is for models that are asked, not for training text",
              std::string(key), "set it to null");
}

Status check_post_processor(const json::value& value, int depth) {
  const std::string type = type_of(value);
  const auto& known = harmless_post_processors;
  if (depth > 4 || std::find(known.begin(), known.end(), type) == known.end()) {
    return unsupported("post_processor", type, "set it to null");
  }
  if (type != "Sequence") return {};
  const json::value* list = member(value.get_object(), "processors");
  if (list == nullptr || !list->is_array()) return {};
  for (const json::value& item : list->get_array()) {
    if (auto ok = check_post_processor(item, depth + 1); !ok) return ok;
  }
  return {};
}

// Those that are looked for in normalised text are normalised themselves: two may become the same.
Status check_normalized_tokens(const TokenizerFile& file) {
  const Normalizer normalizer(file.normalizer);
  std::map<std::string, std::string_view> contents;
  for (const AddedToken& token : file.added) {
    if (!token.normalized) continue;
    std::string storage;
    const auto [other, is_new] =
        contents.emplace(normalizer.apply(token.content, storage), token.content);
    if (is_new) continue;
    return fail(ErrorKind::corrupt,
                fmt::format("'{}' and '{}' are the same token once they are normalised",
                            other->second, token.content),
                "added_tokens");
  }
  return {};
}

Status check_surroundings(const json::object& root) {
  for (const std::string_view key : {"truncation", "padding"}) {
    if (auto ok = check_absent(root, key); !ok) return ok;
  }
  if (const json::value* found = member(root, "post_processor")) {
    if (auto ok = check_post_processor(*found, 0); !ok) return ok;
  }
  if (const json::value* found = member(root, "decoder"); found && type_of(*found) != "ByteLevel") {
    return unsupported("decoder", type_of(*found), "byte-level BPE has the decoder ByteLevel");
  }
  return {};
}

}  // namespace

std::int64_t TokenizerFile::vocabulary() const {
  auto size = static_cast<std::int64_t>(tokens.size());
  for (const AddedToken& token : added) size = std::max(size, std::int64_t{token.id} + 1);
  return size;
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
  if (auto ok = check_surroundings(root); !ok) return propagate(ok);
  if (const json::value* normalizer = member(root, "normalizer")) {
    if (auto ok = read_normalizer(*normalizer, file); !ok) return propagate(ok);
  }
  if (auto ok = read_model(*model, file); !ok) return propagate(ok);
  const json::value* rules = member(root, "pre_tokenizer");
  if (rules == nullptr) {
    return fail(ErrorKind::usage, "is missing; only byte-level vocabularies are supported",
                "pre_tokenizer");
  }
  if (auto ok = read_pre_tokenizer(*rules, file); !ok) return propagate(ok);
  if (const json::value* added = member(root, "added_tokens")) {
    if (auto ok = read_added_tokens(*added, file); !ok) return propagate(ok);
    if (auto ok = check_normalized_tokens(file); !ok) return propagate(ok);
  }
  return file;
}

}  // namespace trainward::trainer
