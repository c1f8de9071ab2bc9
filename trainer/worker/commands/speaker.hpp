// A model made ready to be asked, for the commands that do: found, opened, with its words.
//
// In: what a person named. Out: its weights, its tokenizer, the form it is asked in, and the tokens
// that end what it says. A checkpoint comes from a folder of them as the newest that verifies;
// those that do not are told. Tokenizer and template are those of the model's folder (for adapters
// of theirs, else of the base's), unless others are named; a model without any speaks bytes.
// Errors: usage with what to do; where they are about an option, it is named as it is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "trainer/generate/generator.hpp"
#include "trainer/generate/model_source.hpp"
#include "trainer/generate/prompt_tokens.hpp"
#include "trainer/loop/setup/prompting.hpp"
#include "trainer/worker/commands/command_ports.hpp"

namespace CLI {
class App;
}

namespace trainward::trainer {

struct SpeakerOptions {
  std::string model;    // a checkpoint, a folder of them, a model's folder, an adapter's
  std::string adapter;  // over `model`: a checkpoint, a folder of them, an adapter's
  std::string base;     // where the base of an adapter lies, if not where it says
  std::string tokenizer;
  std::string end_of_text;
  std::string format;  // empty: the model's own template, or plain
  int threads = 2;
};

class Speaker {
 public:
  // `asked_in_turns`: the prompt format will be used.
  static Result<std::unique_ptr<Speaker>> open(const SpeakerOptions& options, bool asked_in_turns,
                                               const CommandPorts& ports);

  // Before the first text: room for so many tokens in all; at most what the model can take.
  Status make_room(std::int64_t context);
  Result<Generated> go_on(std::span<const TokenId> text, const GenerateRequest& request) {
    return generator_->go_on(text, request);
  }
  Result<std::vector<TokenId>> tokens_of(std::string_view text) { return prompts_->of_text(text); }
  Result<std::vector<TokenId>> tokens_of(std::span<const ChatTurn> turns) {
    return prompts_->of_turns(*prompting_.format, turns);
  }

  [[nodiscard]] const ModelSource& source() const { return source_; }
  [[nodiscard]] const PromptFormat& format() const { return *prompting_.format; }
  [[nodiscard]] std::int64_t context() const { return decoder_->context(); }
  // 0: any.
  [[nodiscard]] std::int64_t longest_text() const {
    return trainer::longest_text(loaded_->weights.model);
  }

 private:
  explicit Speaker(ModelSource source) : source_(std::move(source)) {}
  Status find_words(const SpeakerOptions& options, bool asked_in_turns);

  ModelSource source_;
  Prompting prompting_;
  int threads_ = 2;
  std::optional<LoadedModel> loaded_;
  std::optional<PromptTokens> prompts_;
  std::unique_ptr<Decoder> decoder_;
  std::optional<Generator> generator_;
};

void add_speaker_options(CLI::App& command, SpeakerOptions& options);
void add_sampling_options(CLI::App& command, Sampling& sampling);

}  // namespace trainward::trainer
