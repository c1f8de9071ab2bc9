#include <algorithm>
#include <array>

#include "common/base/json/strict_object.hpp"
#include "trainer/tokenizer/file/read_sequence.hpp"
#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {
namespace {

constexpr std::array known{CharacterStep::nfc, CharacterStep::nfd, CharacterStep::nfkc,
                           CharacterStep::nfkd, CharacterStep::lowercase};

constexpr std::size_t longest_text = 64;
// A text may become so many times as long by being replaced.
constexpr std::size_t most_growth = 64;

Status read_prepend(const json::object& object, const std::string& where, Prepend& step) {
  StrictObject keys(object, where);
  keys.leave("type");
  keys.text("prepend", step.text);
  if (step.text.empty() || step.text.size() > longest_text) {
    keys.complain("prepend",
                  fmt::format("has {} bytes, expected 1 to {}", step.text.size(), longest_text));
  }
  return keys.finish();
}

Status read_step(const json::value& value, const std::string& where,
                 std::vector<NormalizerStep>& steps) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "is not an object", where);
  const json::object& object = value.get_object();
  const std::string type = string_or(object, "type", "?");
  if (type == "Prepend") {
    return read_prepend(object, where, std::get<Prepend>(steps.emplace_back(Prepend{})));
  }
  if (type == "Replace") {
    return read_replace(object, where, std::get<Replace>(steps.emplace_back(Replace{})));
  }
  const auto step = std::find_if(known.begin(), known.end(),
                                 [&](CharacterStep each) { return name_of(each) == type; });
  if (step == known.end()) {
    return fail(
        ErrorKind::usage, fmt::format("'{}' is not supported", type), where,
        "supported: NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace and a Sequence of these");
  }
  StrictObject keys(object, where);
  keys.leave("type");
  if (auto ok = keys.finish(); !ok) return ok;
  steps.emplace_back(*step);
  return {};
}

std::size_t growth(const Replace& step) {
  return std::max<std::size_t>(1, (step.to.size() + step.from.size() - 1) / step.from.size());
}

}  // namespace

Status read_replace(const json::object& object, const std::string& where, Replace& rule) {
  StrictObject keys(object, where);
  keys.leave("type");
  keys.text("content", rule.to);
  const json::object* pattern = keys.object("pattern");
  if (pattern == nullptr) keys.complain("pattern", "is missing");
  if (rule.to.size() > longest_text) {
    keys.complain("content", fmt::format("has more than {} bytes", longest_text));
  }
  if (auto ok = keys.finish(); !ok) return ok;
  StrictObject kinds(*pattern, where + ".pattern");
  kinds.leave("Regex");
  kinds.text("String", rule.from);
  if (kinds.has("Regex")) {
    kinds.complain("Regex", "is not supported here", "only a String can be replaced");
  }
  if (rule.from.empty() || rule.from.size() > longest_text) {
    kinds.complain("String",
                   fmt::format("has {} bytes, expected 1 to {}", rule.from.size(), longest_text));
  }
  return kinds.finish();
}

Status read_normalizer(const json::value& value, TokenizerFile& file) {
  auto read = read_sequence(value, "normalizer", {"normalizers", "steps", 16},
                            [&](const json::value& step, const std::string& where) {
                              return read_step(step, where, file.normalizer);
                            });
  if (!read) return read;
  std::size_t total = 1;
  for (const NormalizerStep& step : file.normalizer) {
    const auto* replace = std::get_if<Replace>(&step);
    if (replace != nullptr) total *= growth(*replace);
    if (total > most_growth) {
      return fail(ErrorKind::usage,
                  fmt::format("may make a text more than {} times as long", most_growth),
                  "normalizer");
    }
  }
  return {};
}

}  // namespace trainward::trainer
