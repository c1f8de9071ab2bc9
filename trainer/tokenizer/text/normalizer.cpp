#include "trainer/tokenizer/text/normalizer.hpp"

#include <utf8proc.h>

#include "trainer/tokenizer/text/changed_text.hpp"
#include "trainer/tokenizer/text/normal_form.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

std::string_view lower_case(std::string_view text, std::string& copy) {
  ChangedText out(text, copy);
  std::string character;
  while (!text.empty()) {
    const char32_t c = utf8_code_point(text);
    text.remove_prefix(utf8_character(text));
    character.clear();
    append_utf8(character,
                static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    // The one letter whose lower case is two characters, whatever stands around it.
    if (c == U'İ') character = "i\u0307";
    out.put(character);
  }
  return out.text();
}

std::string_view run(CharacterStep step, std::string_view text, std::string& copy) {
  switch (step) {
    case CharacterStep::nfc:
      return normal_form(text, NormalForm::nfc, copy);
    case CharacterStep::nfd:
      return normal_form(text, NormalForm::nfd, copy);
    case CharacterStep::nfkc:
      return normal_form(text, NormalForm::nfkc, copy);
    case CharacterStep::nfkd:
      return normal_form(text, NormalForm::nfkd, copy);
    case CharacterStep::lowercase:
      return lower_case(text, copy);
  }
  return text;
}

std::string_view run(const Prepend& step, std::string_view text, std::string& copy) {
  if (text.empty()) return text;
  copy.reserve(step.text.size() + text.size());
  copy = step.text;
  copy += text;
  return copy;
}

std::string_view run(const Replace& step, std::string_view text, std::string& copy) {
  if (text.find(step.from) == std::string_view::npos) return text;
  copy = replaced(text, step);
  return copy;
}

}  // namespace

std::string_view name_of(CharacterStep step) {
  switch (step) {
    case CharacterStep::nfc:
      return "NFC";
    case CharacterStep::nfd:
      return "NFD";
    case CharacterStep::nfkc:
      return "NFKC";
    case CharacterStep::nfkd:
      return "NFKD";
    case CharacterStep::lowercase:
      return "Lowercase";
  }
  return "";
}

std::string replaced(std::string_view text, const Replace& rule) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const std::size_t at = text.find(rule.from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += rule.to;
    text.remove_prefix(at + rule.from.size());
  }
}

std::string_view Normalizer::apply(std::string_view text, std::string& storage,
                                   bool prepend) const {
  for (const NormalizerStep& step : steps_) {
    if (!prepend && std::holds_alternative<Prepend>(step)) continue;
    std::string copy;
    const std::string_view changed =
        std::visit([&](const auto& each) { return run(each, text, copy); }, step);
    // What did not change still lies where it lay, which may be `storage`.
    if (changed.data() != copy.data()) continue;
    storage = std::move(copy);
    text = storage;
  }
  return text;
}

}  // namespace trainward::trainer
