// The part `post_processor` of a tokenizer.json: what it puts around one text.
//
// Of a TemplateProcessing the template `single` is read, that of pairs of texts is not used here.
#include <algorithm>
#include <utility>

#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t most_tokens = 64;  // around a text

struct Around {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

Result<TokenId> known_id(const json::value& value, const TokenizerFile& file,
                         const std::string& where) {
  const std::int64_t id = value.is_int64() ? value.get_int64() : -1;
  const bool in_vocabulary = id >= 0 && id < std::int64_t(file.tokens.size()) &&
                             file.tokens[static_cast<std::size_t>(id)].has_value();
  const bool is_added = std::any_of(file.added.begin(), file.added.end(),
                                    [&](const AddedToken& token) { return token.id == id; });
  if (in_vocabulary || is_added) return static_cast<TokenId>(id);
  return fail(ErrorKind::corrupt,
              fmt::format("names the id {}, which no token has", json::serialize(value)), where);
}

// The ids of a special token, which the template names by its text.
Status add_special(const json::object& piece, const json::object& special, const std::string& where,
                   const TokenizerFile& file, std::vector<TokenId>& out) {
  auto name = get_string(piece, "id");
  if (!name) return fail(ErrorKind::corrupt, name.error().what, where);
  const json::value* found = member(special, *name);
  const json::value* ids =
      found != nullptr && found->is_object() ? member(found->get_object(), "ids") : nullptr;
  if (ids == nullptr || !ids->is_array()) {
    return fail(ErrorKind::corrupt,
                fmt::format("special_tokens has no ids for '{}'", std::string_view(*name)), where);
  }
  for (const json::value& each : ids->get_array()) {
    auto id = known_id(each, file, where);
    if (!id) return propagate(id);
    if (out.size() == most_tokens) {
      return fail(ErrorKind::usage, fmt::format("has more than {} tokens", most_tokens), where);
    }
    out.push_back(*id);
  }
  return {};
}

Result<Around> read_template(const json::object& object, const std::string& where,
                             const TokenizerFile& file) {
  auto single = get_array(object, "single");
  if (!single) return fail(ErrorKind::corrupt, single.error().what, where + ".single");
  auto special = get_object(object, "special_tokens");
  if (!special) return fail(ErrorKind::corrupt, special.error().what, where + ".special_tokens");
  Around around;
  bool text = false;
  for (std::size_t i = 0; i < (*single)->size(); ++i) {
    const std::string at = fmt::format("{}.single[{}]", where, i);
    const json::value& piece = (**single)[i];
    const json::object* kinds = piece.if_object();
    const json::value* sequence = kinds != nullptr ? member(*kinds, "Sequence") : nullptr;
    const json::value* token = kinds != nullptr ? member(*kinds, "SpecialToken") : nullptr;
    if (sequence != nullptr && sequence->is_object()) {
      if (text || string_or(sequence->get_object(), "id", "?") != "A") {
        return fail(ErrorKind::corrupt, "is not the text A, once", at);
      }
      text = true;
    } else if (token != nullptr && token->is_object()) {
      auto ok = add_special(token->get_object(), **special, at, file,
                            text ? around.after : around.before);
      if (!ok) return propagate(ok);
    } else {
      return fail(ErrorKind::corrupt, "is neither a SpecialToken nor a Sequence", at);
    }
  }
  if (!text) return fail(ErrorKind::corrupt, "has no place for the text", where + ".single");
  return around;
}

// BERT's and RoBERTa's: "cls": ["<s>", 0] before, "sep": ["</s>", 2] after.
Result<Around> read_pair(const json::object& object, const std::string& where,
                         const TokenizerFile& file) {
  Around around;
  for (const auto& [key, ids] : {std::pair("cls", &around.before), {"sep", &around.after}}) {
    const json::value* value = member(object, key);
    const json::array* pair = value != nullptr ? value->if_array() : nullptr;
    const std::string at = fmt::format("{}.{}", where, key);
    if (pair == nullptr || pair->size() != 2) {
      return fail(ErrorKind::corrupt, "is not a token with its id", at);
    }
    auto id = known_id((*pair)[1], file, at);
    if (!id) return propagate(id);
    ids->push_back(*id);
  }
  return around;
}

// Each processor puts its tokens around those of the processors before it.
Status read_processor(const json::value& value, const std::string& where, int depth,
                      TokenizerFile& file) {
  const std::string type = type_of(value);
  if (type == "ByteLevel") return {};
  if (type == "Sequence" && depth < 4) {
    auto list = get_array(value.get_object(), "processors");
    if (!list) return fail(ErrorKind::corrupt, list.error().what, where + ".processors");
    for (std::size_t i = 0; i < (*list)->size(); ++i) {
      auto ok =
          read_processor((**list)[i], fmt::format("{}.processors[{}]", where, i), depth + 1, file);
      if (!ok) return ok;
    }
    return {};
  }
  const bool pair = type == "BertProcessing" || type == "RobertaProcessing";
  if (!pair && type != "TemplateProcessing") {
    return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
                "set it to null");
  }
  auto around = pair ? read_pair(value.get_object(), where, file)
                     : read_template(value.get_object(), where, file);
  if (!around) return propagate(around);
  file.before.insert(file.before.begin(), around->before.begin(), around->before.end());
  file.after.insert(file.after.end(), around->after.begin(), around->after.end());
  if (file.before.size() + file.after.size() > most_tokens) {
    return fail(ErrorKind::usage, fmt::format("has more than {} tokens", most_tokens), where);
  }
  return {};
}

}  // namespace

Status read_post_processor(const json::value& value, TokenizerFile& file) {
  return read_processor(value, "post_processor", 0, file);
}

}  // namespace trainward::trainer
