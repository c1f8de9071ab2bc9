// The text of an example to tokens, with an exact line between what is asked and what is answered.
//
// In: the pieces that a prompt format made of a conversation. Out: their tokens, each knowing
// whether it is trained on. Neighbouring pieces on the same side of that line are one text to the
// tokenizer, as they are when the model is asked later; across it nothing merges, so the mask is
// exact, the prompt's tokens are those of the prompt alone, and prompt and answer decode to the
// text. The first token of an answer is a target, and so is the end of each turn that the format
// calls answer.
//
// Special tokens are looked for in the format's own markup alone. Where the text of people holds
// one, the pieces are tokenized one by one, and theirs comes out as ordinary letters: a user
// cannot close a turn by writing its end. Such examples are marked.
//
// Around it: the begin tokens of the tokenizer once, whether or not the text has them already,
// unless the form of turns begins by itself; and the end token once, as a target, where nothing
// ends the last answer. What follows that is left out: it teaches nothing, and nothing that is
// learned sees it.
//
// Errors: corrupt, about this example: its text cannot be tokenized. Borrows the tokenizer. One
// thread.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/chat/prompt_format.hpp"
#include "trainer/data/examples/example.hpp"

namespace trainward::trainer {

struct EncoderRules {
  std::vector<TokenId> beginning;
  std::vector<TokenId> ends;  // each of these ends an answer; the first is added where none does
  bool train_on_prompts = false;
  bool turns_begin = true;  // false: their form says how, and only plain text gets `beginning`
};

struct EncodedExample {
  Example example;
  bool special_in_text = false;  // people wrote what is a special token
};

class ExampleEncoder {
 public:
  ExampleEncoder(Tokenizer& tokenizer, EncoderRules rules)
      : tokenizer_(&tokenizer), rules_(std::move(rules)) {}

  enum class Of { turns, text };

  Result<EncodedExample> encode(std::span<const PromptPiece> pieces, Of what = Of::turns);
  // What the model is asked with: pieces of which none is an answer. The tokens are those that an
  // example of the same prompt begins with.
  Result<std::vector<TokenId>> encode_prompt(std::span<const PromptPiece> pieces,
                                             Of what = Of::turns);
  // How many tokens are put in front.
  [[nodiscard]] std::int64_t beginning(Of what) const {
    return what == Of::text || rules_.turns_begin ? std::ssize(rules_.beginning) : 0;
  }

 private:
  using Ids = std::vector<TokenId>;

  Status add_all(std::span<const PromptPiece> pieces, EncodedExample& out);
  // A stretch of pieces on one side of the line.
  Status add_run(std::span<const PromptPiece> run, EncodedExample& out);
  Status piece_by_piece(std::span<const PromptPiece> run, EncodeOptions place, Ids& out);
  // What the run's markup may contribute to specials_among().
  Result<Ids> specials_of_markup(std::span<const PromptPiece> run);
  [[nodiscard]] Ids specials_among(std::span<const TokenId> ids);
  [[nodiscard]] bool is_special(TokenId id);
  void begin_once(Example& example, Of what) const;
  void end_once(Example& example) const;

  Tokenizer* tokenizer_;
  EncoderRules rules_;
  std::unordered_map<TokenId, bool> special_;             // of ids met so far
  std::unordered_map<std::string, Ids> markup_specials_;  // of markup met so far; bounded
};

}  // namespace trainward::trainer
