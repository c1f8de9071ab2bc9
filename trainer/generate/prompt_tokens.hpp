// The tokens that a model is asked with: what its examples began with in training.
//
// In: a text to continue, or turns and the form they are put in. Out: their tokens with what
// stands before a text, once; a text of nothing is what goes between documents. In a plain text
// special tokens are recognised, since they are written on purpose; in turns only those of the
// form are. Errors: those of the tokenizer and the form. Borrows the tokenizer. One thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/chat/prompt_format.hpp"
#include "trainer/data/examples/example_encoder.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class PromptTokens {
 public:
  PromptTokens(Tokenizer& tokenizer, const EncoderRules& rules)
      : tokenizer_(&tokenizer), encoder_(tokenizer, rules) {}

  Result<std::vector<TokenId>> of_text(std::string_view text);
  Result<std::vector<TokenId>> of_turns(const PromptFormat& format,
                                        std::span<const ChatTurn> turns);

 private:
  Tokenizer* tokenizer_;
  ExampleEncoder encoder_;
};

}  // namespace trainward::trainer
