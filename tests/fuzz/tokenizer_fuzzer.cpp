// tokenizer.json. What is accepted must work: on bytes that are text and on others, giving ids of
// the vocabulary that decode, always the same ones; text of strangers holds no added token. The
// input is also normalised as text, and read as a tokenizer_config.json.
#include <algorithm>
#include <string>
#include <vector>

#include "common/base/utf8.hpp"
#include "require.hpp"
#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"
#include "trainer/tokenizer/file/tokenizer_config.hpp"
#include "trainer/tokenizer/stream_decoder.hpp"
#include "trainer/tokenizer/text/normal_form.hpp"

namespace trainward::fuzz {
namespace {

using trainer::BpeTokenizer;
using trainer::TokenId;

// Short: the patterns are the fuzzer's too, and may take as many steps as they are allowed.
constexpr std::string_view texts[] = {"",
                                      "  a</s> ab<s>\xF0\x9F\x98\x80",
                                      "it's 2024 \n\n a",
                                      "ab\xFF\xC3\xA9 <x>",
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

// One by one is as all at once.
void check_stream(const trainer::Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                  const std::string& text) {
  trainer::StreamDecoder decoder(tokenizer);
  std::string shown;
  for (const TokenId id : ids) shown += decoder.put(id).value();
  shown += decoder.finish();
  require(shown == valid_utf8(text), "shown one by one it is the same text");
}

// Added tokens that are characters or unknown ones cannot be told from what the text holds.
void check_stranger(const trainer::TokenizerFile& file, trainer::Tokenizer& tokenizer,
                    std::string_view text) {
  std::vector<TokenId> ids;
  if (!tokenizer.encode(text, ids, {.begins = false, .special = false})) return;
  for (const trainer::AddedToken& token : file.added) {
    const bool single = utf8_character(token.content) == token.content.size() ||
                        trainer::byte_of_name(token.content) || token.id == file.unknown;
    require(single || std::find(ids.begin(), ids.end(), token.id) == ids.end(),
            "no added token comes from text of strangers");
  }
  require(tokenizer.decode(ids, {.begins = false}).has_value(), "and it has a text");
}

void check(std::string_view input) {
  check_forms(input);
  if (auto config = trainer::parse_tokenizer_config(input); !config) {
    require(!config.error().what.empty(), "a refusal says why");
  }
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
    const auto decoded = (*tokenizer)->decode(ids);
    require(decoded.has_value(), "and have a text");
    check_stream(**tokenizer, ids, *decoded);
    check_stranger(*file, **tokenizer, text);
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
