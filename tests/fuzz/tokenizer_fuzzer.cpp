// tokenizer.json. What is accepted must work: on bytes that are text and on others, giving ids of
// the vocabulary that decode, always the same ones.
#include <string>
#include <vector>

#include "require.hpp"
#include "trainer/tokenizer/bpe_tokenizer.hpp"

namespace trainward::fuzz {
namespace {

using trainer::BpeTokenizer;
using trainer::TokenId;

// Short: the patterns are the fuzzer's too, and may take as many steps as they are allowed.
constexpr std::string_view texts[] = {"", "it's 2024 \n\n a", "ab\xFF\xC3\xA9 <x>",
                                      "aaaaaaaaaaaaaaaa"};

void check(std::string_view input) {
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
