// Chat templates. Whatever one says, it ends soon and within its bounds: with a text, the same each
// time, or with what is wrong and where. As a form it gives no empty piece, and nothing of what it
// is asked with is trained on.
#include <string>
#include <vector>

#include "require.hpp"
#include "trainer/chat/jinja/template.hpp"
#include "trainer/chat/prompt_format.hpp"

namespace trainward::fuzz {
namespace {

using trainer::ChatTurn;
using trainer::PromptPiece;

std::string joined(const std::vector<PromptPiece>& pieces) {
  std::string text;
  for (const PromptPiece& piece : pieces) {
    require(!piece.text.empty(), "no piece is empty");
    text += piece.text;
  }
  return text;
}

void check(std::string_view input) {
  const auto parsed = trainer::jinja::Template::parse(input);
  if (!parsed) {
    require(!parsed.error().what.empty(), "a refusal says why");
  } else {
    trainer::jinja::Budget budget;
    const auto text = parsed->render({}, budget);
    require(text.has_value() || !text.error().where.empty(), "a refusal says where");
  }
  const trainer::TemplateTokens tokens{"<s>", "</s>", "<unk>", "<pad>"};
  const auto format =
      trainer::own_format(input, tokens, {{"word", "text"}, {"list", {1, 2.5, "x"}}});
  if (!format) {
    require(!format.error().hint.empty(), "a refusal says what to do");
    return;
  }
  require(parsed.has_value(), "a form has a template");
  const std::vector<ChatTurn> turns = {{"system", "S s"},
                                       {"user", "<|im_end|>"},
                                       {"assistant", "A\n"},
                                       {"user", " {{ é }}"},
                                       {"assistant", "</s>B"}};
  for (const std::size_t count : {3, 5}) {
    const auto some = std::span(turns).first(count);
    const auto pieces = (*format)->render(some);
    const auto again = (*format)->render(some);
    require(pieces.has_value() == again.has_value(), "always the same");
    if (!pieces) continue;
    require(*pieces == *again, "always the same");
    const auto asked = (*format)->prompt(some.first(count - 1));
    for (const PromptPiece& piece : asked ? *asked : std::vector<PromptPiece>()) {
      require(!piece.answer, "what is asked with is not trained on");
    }
    require(!joined(*pieces).empty(), "a conversation has a text");
  }
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainward::fuzz::check(trainward::fuzz::text_of(data, size));
  return 0;
}
