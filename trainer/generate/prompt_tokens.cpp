#include "trainer/generate/prompt_tokens.hpp"

#include <string>

namespace trainward::trainer {

Result<std::vector<TokenId>> PromptTokens::of_text(std::string_view text) {
  const PromptPiece piece{std::string(text), false, true};
  auto tokens = encoder_.encode_prompt(std::span(&piece, 1), ExampleEncoder::Of::text);
  if (tokens && tokens->empty()) tokens->push_back(tokenizer_->end_of_text());
  return tokens;
}

Result<std::vector<TokenId>> PromptTokens::of_turns(const PromptFormat& format,
                                                    std::span<const ChatTurn> turns) {
  auto pieces = format.prompt(turns);
  if (!pieces) return propagate(pieces);
  return encoder_.encode_prompt(*pieces);
}

}  // namespace trainward::trainer
