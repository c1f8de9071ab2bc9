// The part `pre_tokenizer` of a tokenizer.json.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> behaviors{{
    {"Removed", SplitBehavior::removed},
    {"Isolated", SplitBehavior::isolated},
    {"MergedWithPrevious", SplitBehavior::merged_with_previous},
    {"MergedWithNext", SplitBehavior::merged_with_next},
    {"Contiguous", SplitBehavior::contiguous},
}};

Status read_split(const json::object& object, const std::string& where, SplitRule& rule) {
  StrictObject keys(object, where);
  keys.leave("type");
  std::string behavior;
  keys.text("behavior", behavior);
  keys.flag("invert", rule.invert);
  const json::object* pattern = keys.object("pattern");
  if (pattern == nullptr) keys.complain("pattern", "is missing");
  const auto* known = std::find_if(behaviors.begin(), behaviors.end(),
                                   [&](const auto& pair) { return pair.first == behavior; });
  if (known == behaviors.end()) {
    keys.complain("behavior", fmt::format("'{}' is not supported", behavior));
  } else {
    rule.behavior = known->second;
  }
  if (auto ok = keys.finish(); !ok) return ok;
  StrictObject kinds(*pattern, where + ".pattern");
  rule.literal = !kinds.has("Regex");
  kinds.text(rule.literal ? "String" : "Regex", rule.pattern);
  if (rule.pattern.empty()) kinds.complain(rule.literal ? "String" : "Regex", "is empty");
  return kinds.finish();
}

Status read_digits(const json::object& object, const std::string& where, SplitRule& rule) {
  StrictObject keys(object, where);
  keys.leave("type");
  bool individual = false;
  keys.flag("individual_digits", individual);
  rule.pattern = R"(\p{N})";
  rule.behavior = individual ? SplitBehavior::isolated : SplitBehavior::contiguous;
  return keys.finish();
}

Status read_byte_level(const json::object& object, const std::string& where,
                       std::vector<PreTokenizerRule>& rules) {
  StrictObject keys(object, where);
  keys.leave("type");
  keys.leave("trim_offsets");
  bool add_prefix_space = true;
  bool use_regex = true;
  keys.flag("add_prefix_space", add_prefix_space);
  keys.flag("use_regex", use_regex);
  if (add_prefix_space) rules.emplace_back(PrefixSpace{});
  if (use_regex) rules.emplace_back(SplitRule{std::string(gpt2_pattern)});
  return keys.finish();
}

constexpr std::array<std::pair<std::string_view, Metaspace::Prepend>, 3> prepends{{
    {"always", Metaspace::Prepend::always},
    {"first", Metaspace::Prepend::first},
    {"never", Metaspace::Prepend::never},
}};

// Older files say add_prefix_space alone, or beside prepend_scheme, and str_rep for replacement.
Status read_metaspace(const json::object& object, const std::string& where, Metaspace& rule) {
  StrictObject keys(object, where);
  keys.leave("type");
  std::string repeated;
  std::string scheme;
  bool add_prefix_space = true;
  keys.text("replacement", rule.replacement);
  keys.text("str_rep", repeated);
  keys.text("prepend_scheme", scheme);
  keys.flag("add_prefix_space", add_prefix_space);
  keys.flag("split", rule.split);
  if (rule.replacement.empty() || utf8_character(rule.replacement) != rule.replacement.size()) {
    keys.complain("replacement", "is not one character");
  }
  if (keys.has("str_rep") && repeated != rule.replacement) {
    keys.complain("str_rep", "is something else than replacement");
  }
  if (scheme.empty()) scheme = add_prefix_space ? "always" : "never";
  const auto* known = std::find_if(prepends.begin(), prepends.end(),
                                   [&](const auto& pair) { return pair.first == scheme; });
  if (known == prepends.end()) {
    keys.complain("prepend_scheme", fmt::format("'{}' is not supported", scheme),
                  "supported: always, first, never");
  } else {
    rule.prepend = known->second;
  }
  if (!add_prefix_space && rule.prepend != Metaspace::Prepend::never) {
    keys.complain("add_prefix_space", "is false, and prepend_scheme is not 'never'");
  }
  return keys.finish();
}

// What the rules that were read so far say of the vocabulary.
struct Kinds {
  bool byte_level = false;
  bool metaspace = false;
};

Status read_rule(const json::value& value, const std::string& where, Kinds& kinds,
                 std::vector<PreTokenizerRule>& rules) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
  if (kinds.byte_level) {
    return fail(ErrorKind::usage, "comes after ByteLevel, which must be the last", where);
  }
  const json::object& object = value.get_object();
  const std::string type = string_or(object, "type", "?");
  if (type == "Sequence") {
    return fail(ErrorKind::usage, "a Sequence inside of a Sequence is not supported", where);
  }
  if (type == "ByteLevel") {
    if (kinds.metaspace) return fail(ErrorKind::usage, "comes after Metaspace", where);
    kinds.byte_level = true;
    return read_byte_level(object, where, rules);
  }
  if (type == "Metaspace") {
    kinds.metaspace = true;
    return read_metaspace(object, where, std::get<Metaspace>(rules.emplace_back(Metaspace{})));
  }
  SplitRule rule;
  if (type == "Split") {
    if (auto ok = read_split(object, where, rule); !ok) return ok;
  } else if (type == "Digits") {
    if (auto ok = read_digits(object, where, rule); !ok) return ok;
  } else {
    return fail(ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
                "supported: Split, Digits, ByteLevel, Metaspace and a Sequence of these");
  }
  // Compiled here too, so that the error names the rule.
  if (auto pattern = Pattern::compile(rule.pattern, rule.literal); !pattern) {
    pattern.error().where = where + ".pattern";
    return propagate(pattern);
  }
  rules.emplace_back(std::move(rule));
  return {};
}

}  // namespace

Status read_pre_tokenizer(const json::value& value, TokenizerFile& file) {
  const std::string where = "pre_tokenizer";
  Kinds kinds;
  auto read = read_sequence(value, where, {"pretokenizers", "rules", 32},
                            [&](const json::value& rule, const std::string& at) {
                              return read_rule(rule, at, kinds, file.rules);
                            });
  if (!read) return read;
  if (!kinds.byte_level && !kinds.metaspace) {
    return fail(ErrorKind::usage, "has no ByteLevel and no Metaspace; one of them must be there",
                where);
  }
  file.spelling = kinds.byte_level ? Spelling::bytes : Spelling::characters;
  return {};
}

}  // namespace trainward::trainer
