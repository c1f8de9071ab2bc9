#include "trainer/tokenizer/text/normalizer.hpp"

#include <utf8proc.h>

#include "trainer/tokenizer/text/changed_text.hpp"
#include "trainer/tokenizer/text/normal_form.hpp"
#include "trainer/tokenizer/text/utf8.hpp"

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

std::string_view run(NormalizerStep step, std::string_view text, std::string& copy) {
  switch (step) {
    case NormalizerStep::nfc:
      return normal_form(text, NormalForm::nfc, copy);
    case NormalizerStep::nfd:
      return normal_form(text, NormalForm::nfd, copy);
    case NormalizerStep::nfkc:
      return normal_form(text, NormalForm::nfkc, copy);
    case NormalizerStep::nfkd:
      return normal_form(text, NormalForm::nfkd, copy);
    case NormalizerStep::lowercase:
      return lower_case(text, copy);
  }
  return text;
}

}  // namespace

std::string_view name_of(NormalizerStep step) {
  switch (step) {
    case NormalizerStep::nfc:
      return "NFC";
    case NormalizerStep::nfd:
      return "NFD";
    case NormalizerStep::nfkc:
      return "NFKC";
    case NormalizerStep::nfkd:
      return "NFKD";
    case NormalizerStep::lowercase:
      return "Lowercase";
  }
  return "";
}

std::string_view Normalizer::apply(std::string_view text, std::string& storage) const {
  for (const NormalizerStep step : steps_) {
    std::string copy;
    const std::string_view changed = run(step, text, copy);
    // What did not change still lies where it lay, which may be `storage`.
    if (changed.data() != copy.data()) continue;
    storage = std::move(copy);
    text = storage;
  }
  return text;
}

}  // namespace trainward::trainer
