// Goes on with a text, token by token, as a model would.
//
// In: the tokens of the text, and how to choose. Out: each new piece of text as soon as it is
// there, in whole characters. The same weights, text, choice and random numbers give the same
// tokens. Ends at a token that ends a text, which is not shown, after `tokens` of them, where the
// decoder has no room for more, or when `show` says so.
//
// What the decoder has seen of a text that begins like the one before is not computed again, so a
// conversation costs its new turns alone; forget() where that must not be, as after a change of the
// weights. Borrows the decoder and the tokenizer. One thread.
//
// Errors: usage for an empty text and one that leaves no room; those of the decoder.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/generate/decoder.hpp"
#include "trainer/generate/sampling.hpp"
#include "trainer/model/training/training_random.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct GenerateRequest {
  std::int64_t tokens = 200;  // at most
  Sampling sampling;
  RandomStream random{0, "generate"};
  std::function<bool(std::string_view text)> show;  // false: enough; may be empty
  bool begins = false;  // nothing that is shown stands before what comes
};

struct Generated {
  enum class End { token, length, asked } end = End::length;
  std::int64_t tokens = 0;  // without the one that ended it
  std::string text;         // valid UTF-8
};

// "end_of_text", "length", "asked"
std::string_view name_of(Generated::End end);

class Generator {
 public:
  // `ends`: each of these ends a text.
  Generator(Decoder& decoder, const Tokenizer& tokenizer, std::vector<TokenId> ends)
      : decoder_(&decoder), tokenizer_(&tokenizer), ends_(std::move(ends)) {}

  Result<Generated> go_on(std::span<const TokenId> text, const GenerateRequest& request);
  void forget();

 private:
  [[nodiscard]] Result<std::span<const float>> advance(std::span<const TokenId> tokens);
  [[nodiscard]] TokenId choose(std::span<const float> logits, const GenerateRequest& request,
                               std::int64_t position);
  // Where a text begins like the last one; at least one token of it is left to be read.
  std::span<const TokenId> go_back(std::span<const TokenId> text);

  Decoder* decoder_;
  const Tokenizer* tokenizer_;
  std::vector<TokenId> ends_;
  std::vector<TokenId> seen_;     // by the decoder
  std::vector<TokenId> present_;  // the text as it is now
  std::vector<float> penalised_;
};

}  // namespace trainward::trainer
