// tokenizer.json. What is accepted must work: on bytes that are text and on others, giving ids of
// the vocabulary that decode, always the same ones. The input is also normalised as text.
#include <string>
#include <vector>

#include "common/base/utf8.hpp"
#include "require.hpp"
#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "trainer/tokenizer/text/normal_form.hpp"

namespace trainward::fuzz {
namespace {

using trainer::BpeTokenizer;
using trainer::TokenId;

// Short: the patterns are the fuzzer's too, and may take as many steps as they are allowed.
constexpr std::string_view texts[] = {"", "it's 2024 \n\n a", "ab\xFF\xC3\xA9 <x>",
                                      "aaaaaaaaaaaaaaaa",
                                      "E\u0301\u0323 \u1112\u1161\u11AB<x>\u212B\uFB01\u0130"};

// The input as text: each form is text, in that form already, and means the same as before.
void check_forms(std::string_view input) {
  using trainer::NormalForm;
  const std::string_view text = input.substr(0, utf8_valid_prefix(input));
  const auto of = [](std::string_view from, NormalForm form) {
    std::string copy;
    return std::string(trainer::normal_form(from, form, copy));
  };
  for (const auto form : {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
    const std::string once = of(text, form);
    require(is_utf8(once), "a normal form is UTF-8");
    require(of(once, form) == once, "and stays as it is");
  }
  require(of(of(text, NormalForm::nfd), NormalForm::nfc) == of(text, NormalForm::nfc),
          "composing takes decomposing back");
  require(of(of(text, NormalForm::nfc), NormalForm::nfd) == of(text, NormalForm::nfd),
          "decomposing takes composing back");
}

void check(std::string_view input) {
  check_forms(input);
  auto file = trainer::parse_tokenizer(input);
  if (!file) {
    require(!file.error().what.empty(), "a refusal says why");
    return;
  }
  const std::string end = file->added.empty() ? "" : file->added.front().content;
  auto tokenizer = BpeTokenizer::make(*file, "input", end);
  require(tokenizer.has_value() == !file->added.empty(), "what was read can be used");
  if (!tokenizer) return;
  require((*tokenizer)->end_of_text() < (*tokenizer)->vocabulary(), "the end is in the vocabulary");
  for (const std::string_view text : texts) {
    std::vector<TokenId> ids{7};
    if (auto ok = (*tokenizer)->encode(text, ids); !ok) {
      require(ok.error().kind == ErrorKind::corrupt, "a refusal is about the text");
      require(ids.size() == 1, "and leaves nothing behind");
      continue;
    }
    ids.erase(ids.begin());
    for (const TokenId id : ids) {
      require(id >= 0 && id < (*tokenizer)->vocabulary(), "ids are in the vocabulary");
    }
    require((*tokenizer)->decode(ids).has_value(), "and have a text");
    std::vector<TokenId> again;
    require((*tokenizer)->encode(text, again).has_value() && again == ids, "always the same");
  }
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainward::fuzz::check(trainward::fuzz::text_of(data, size));
  return 0;
}
