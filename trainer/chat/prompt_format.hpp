// How a conversation becomes the text that a model is trained on, and that it is asked with.
//
// In: turns of system, user, assistant and tool. Out: pieces of text, each of which says whether
// its tokens are trained on and whether special tokens are looked for in it. What people wrote
// never is markup, so a user cannot end a turn by writing its end token.
//
// Errors: usage. `where` names the turn ("turn 3") or the line of the model's template. Formats
// never change, and may be used by several threads at once. Pure: no file, no clock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer {

// A further role, `input`, is the input of an Alpaca row: the alpaca forms give it a heading of its
// own, all others add it to the user's turn before it, an empty line between.
struct ChatTurn {
  std::string role;
  std::string content;
  bool trained = true;  // of an answer; false: its row says that nothing is to be learned from it

  friend bool operator==(const ChatTurn&, const ChatTurn&) = default;
};

struct PromptPiece {
  std::string text;
  // Trained on: what the assistant says where its turn is to be learned, with the token that ends
  // the turn; not the white space that a template puts between turns.
  bool answer = false;
  // Of the form itself; the rest is text of people.
  bool markup = false;

  friend bool operator==(const PromptPiece&, const PromptPiece&) = default;
};

class PromptFormat {
 public:
  PromptFormat() = default;
  PromptFormat(const PromptFormat&) = delete;
  PromptFormat& operator=(const PromptFormat&) = delete;
  virtual ~PromptFormat() = default;

  // One conversation as pieces, in order, none of them empty; their texts joined are what the form
  // renders. An answer that the form leaves without an end gets the end-of-sequence token.
  virtual Result<std::vector<PromptPiece>> render(std::span<const ChatTurn> turns) const = 0;
  // For generation: up to where the assistant is to speak; no piece is an answer. The pieces that
  // render() gives for these turns and the assistant's begin so.
  virtual Result<std::vector<PromptPiece>> prompt(std::span<const ChatTurn> turns) const = 0;

  virtual bool writes_beginning() const = 0;  // the form writes BOS itself
  // Only the last answer of a conversation is trained on: the form writes earlier ones otherwise
  // than the model gave them.
  virtual bool last_answer_only() const { return false; }
  virtual std::string_view name() const = 0;           // "chatml", …, "the model's own"
  virtual const std::string& digest_text() const = 0;  // everything that decides the text
  virtual std::vector<std::string> ends() const = 0;   // what ends an answer ("<|im_end|>")
  // As Jinja, for other serving tools; `begins`: with BOS in front, even where the
  // form does not write it. Empty: it came from a template.
  virtual std::string as_template(bool /*begins*/) const { return {}; }
};

// The special tokens of a tokenizer, empty where it has none.
struct TemplateTokens {
  std::string bos, eos, unk, pad;
};

// chatml, llama3, llama2, zephyr, alpaca, alpaca_stanford, question_answer, plain. Errors: usage,
// with the nearest name; and for a form that needs a token which is empty.
Result<std::shared_ptr<const PromptFormat>> built_in_format(std::string_view name,
                                                            const TemplateTokens& tokens);
std::span<const std::string_view> built_in_format_names();

// A chat template in Jinja, as models come with it. `variables` are what it may ask for besides
// messages and tokens: enable_thinking, date_string, …. Errors: usage, with line and construct.
Result<std::shared_ptr<const PromptFormat>> own_format(std::string_view jinja,
                                                       const TemplateTokens& tokens,
                                                       const json::object& variables);

}  // namespace trainward::trainer
