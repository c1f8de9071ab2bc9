// The parts `model` and `added_tokens` of a tokenizer.json.
#include <array>
#include <charconv>
#include <initializer_list>
#include <set>
#include <unordered_map>

#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"
#include "trainer/tokenizer/tokens/byte_characters.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t max_token_bytes = 4096;
constexpr std::size_t max_added_tokens = 65'536;

std::string_view shown(std::string_view token) { return token.substr(0, 60); }

Result<TokenId> id_of(const json::value& value, const std::string& where) {
  if (!value.is_int64() || value.get_int64() < 0 || value.get_int64() >= max_vocabulary) {
    return fail(ErrorKind::corrupt,
                fmt::format("has the id {}, expected a whole number from 0 to {}",
                            json::serialize(value), max_vocabulary - 1),
                where);
  }
  return static_cast<TokenId>(value.get_int64());
}

Status read_vocabulary(const json::object& vocabulary, TokenizerFile& file) {
  const std::string where = "model.vocab";
  if (vocabulary.empty()) return fail(ErrorKind::corrupt, "is empty", where);
  for (const auto& member : vocabulary) {
    const std::string_view token = view(member.key());
    auto id = id_of(member.value(), fmt::format("{}: '{}'", where, shown(token)));
    if (!id) return propagate(id);
    if (token.empty() || token.size() > max_token_bytes) {
      return fail(ErrorKind::corrupt,
                  fmt::format("the token {} has {} bytes, expected 1 to {}", *id, token.size(),
                              max_token_bytes),
                  where);
    }
    const auto at = static_cast<std::size_t>(*id);
    if (file.tokens.size() <= at) file.tokens.resize(at + 1);
    if (file.tokens[at]) {
      return fail(ErrorKind::corrupt,
                  fmt::format("'{}' and '{}' both have the id {}", shown(*file.tokens[at]),
                              shown(token), *id),
                  where);
    }
    file.tokens[at] = std::string(token);
  }
  return {};
}

using Ids = std::unordered_map<std::string_view, TokenId>;

Ids ids_of(const TokenizerFile& file) {
  Ids ids;
  ids.reserve(file.tokens.size());
  for (std::size_t id = 0; id < file.tokens.size(); ++id) {
    if (file.tokens[id]) ids.emplace(*file.tokens[id], static_cast<TokenId>(id));
  }
  return ids;
}

// "a b" or ["a", "b"]
Result<std::pair<std::string, std::string>> parts_of(const json::value& merge,
                                                     const std::string& where) {
  const auto unreadable = [&] {
    return fail(ErrorKind::corrupt, R"(is neither "a b" nor ["a", "b"])", where);
  };
  if (const json::array* pair = merge.if_array()) {
    if (pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string()) {
      return unreadable();
    }
    return std::pair(std::string(view((*pair)[0].get_string())),
                     std::string(view((*pair)[1].get_string())));
  }
  if (!merge.is_string()) return unreadable();
  const std::string_view text = view(merge.get_string());
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
    return unreadable();
  }
  return std::pair(std::string(text.substr(0, space)), std::string(text.substr(space + 1)));
}

Status read_merges(const json::array& merges, TokenizerFile& file) {
  const Ids ids = ids_of(file);
  file.merges.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const std::string where = fmt::format("model.merges[{}]", i);
    auto parts = parts_of(merges[i], where);
    if (!parts) return propagate(parts);
    std::array<TokenId, 3> found{};
    const std::array<std::string, 3> tokens{parts->first, parts->second,
                                            parts->first + parts->second};
    for (std::size_t part = 0; part < 3; ++part) {
      const auto id = ids.find(tokens[part]);
      if (id == ids.end()) {
        return fail(ErrorKind::corrupt,
                    fmt::format("names '{}', which vocab does not have", shown(tokens[part])),
                    where);
      }
      found[part] = id->second;
    }
    file.merges.push_back({found[0], found[1], found[2]});
  }
  return {};
}

bool every_byte_has_a_token(const TokenizerFile& file) {
  std::set<char> bytes;
  for (const auto& token : file.tokens) {
    if (!token || token->size() > 2) continue;
    if (const auto text = bytes_of_token(*token); text && text->size() == 1) {
      bytes.insert(text->front());
    }
  }
  return bytes.size() == 256;
}

// Keys that must be absent, null, or as if they were.
void check_plain(StrictObject& keys, const json::object& model,
                 std::initializer_list<std::string_view> wanted) {
  for (const std::string_view key : wanted) {
    keys.leave(key);
    const json::value* found = model.if_contains(json::string_view(key.data(), key.size()));
    if (found == nullptr || found->is_null()) continue;
    const bool plain = (found->is_string() && found->get_string().empty()) ||
                       (found->is_bool() && !found->get_bool()) ||
                       (found->is_number() && found->to_number<double>() == 0.0);
    if (!plain) keys.complain(key, fmt::format("{} is not supported", json::serialize(*found)));
  }
}

// A character without a token becomes this one; a byte always has one of its own.
Status read_unknown(const json::object& model, TokenizerFile& file) {
  const std::string where = "model.unk_token";
  const json::value* unknown = model.if_contains("unk_token");
  if (unknown == nullptr || unknown->is_null()) return {};
  if (file.spelling == Spelling::bytes) {
    if (every_byte_has_a_token(file)) return {};
    return fail(ErrorKind::usage, "is not supported where a byte has no token", where);
  }
  if (!unknown->is_string()) return fail(ErrorKind::corrupt, "is not a text", where);
  const std::string_view content = view(unknown->get_string());
  file.unknown = file.find(content);
  if (!file.unknown) {
    return fail(ErrorKind::corrupt,
                fmt::format("is '{}', which vocab does not have", shown(content)), where);
  }
  return {};
}

}  // namespace

std::optional<unsigned char> byte_of_name(std::string_view token) {
  unsigned byte = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<unsigned char>(byte);
}

Status read_model(const json::object& model, TokenizerFile& file) {
  if (const std::string type = string_or(model, "type", "BPE"); type != "BPE") {
    return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), "model.type",
                "only BPE is");
  }
  StrictObject keys(model, "model");
  for (const std::string_view key : {"type", "merges", "unk_token"}) keys.leave(key);
  check_plain(keys, model, {"dropout", "continuing_subword_prefix", "end_of_word_suffix"});
  if (file.spelling == Spelling::bytes) {
    keys.leave("fuse_unk");
    check_plain(keys, model, {"byte_fallback"});
  } else {
    keys.flag("fuse_unk", file.fuse_unknown);
    keys.flag("byte_fallback", file.byte_fallback);
  }
  keys.flag("ignore_merges", file.ignore_merges);
  const json::object* vocabulary = keys.object("vocab");
  if (vocabulary == nullptr) keys.complain("vocab", "is missing");
  if (auto ok = keys.finish(); !ok) return ok;
  if (auto ok = read_vocabulary(*vocabulary, file); !ok) return ok;
  auto merges = get_array(model, "merges");
  if (!merges) {
    merges.error().where = "model.merges";
    return propagate(merges);
  }
  if (auto ok = read_merges(**merges, file); !ok) return ok;
  return read_unknown(model, file);
}

Status read_added_tokens(const json::value& value, TokenizerFile& file) {
  if (!value.is_array()) return fail(ErrorKind::corrupt, "is not a list", "added_tokens");
  const json::array& list = value.get_array();
  if (list.size() > max_added_tokens) {
    return fail(ErrorKind::usage, fmt::format("has more than {} tokens", max_added_tokens),
                "added_tokens");
  }
  const Ids ids = ids_of(file);
  std::set<std::string> contents;
  std::set<TokenId> taken;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("added_tokens[{}]", i);
    if (!list[i].is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
    const json::object& object = list[i].get_object();
    StrictObject keys(object, where);
    keys.leave("id");
    AddedToken token;
    keys.text("content", token.content);
    keys.flag("single_word", token.single_word);
    keys.flag("lstrip", token.lstrip);
    keys.flag("rstrip", token.rstrip);
    keys.flag("normalized", token.normalized);
    keys.flag("special", token.special);
    if (auto ok = keys.finish(); !ok) return ok;
    const json::value* number = object.if_contains("id");
    auto id = id_of(number == nullptr ? json::value() : *number, where);
    if (!id) return propagate(id);
    token.id = *id;
    if (token.content.empty() || token.content.size() > max_token_bytes) {
      return fail(ErrorKind::corrupt,
                  fmt::format("content has {} bytes, expected 1 to {}", token.content.size(),
                              max_token_bytes),
                  where);
    }
    const auto in_vocabulary = ids.find(token.content);
    const auto at = static_cast<std::size_t>(token.id);
    const bool other_id = in_vocabulary != ids.end() && in_vocabulary->second != token.id;
    const bool other_token =
        at < file.tokens.size() && file.tokens[at] && *file.tokens[at] != token.content;
    if (other_id || other_token || !contents.insert(token.content).second ||
        !taken.insert(token.id).second) {
      return fail(ErrorKind::corrupt,
                  fmt::format("'{}' with the id {} contradicts another token", shown(token.content),
                              token.id),
                  where);
    }
    file.added.push_back(std::move(token));
  }
  return {};
}

}  // namespace trainward::trainer
