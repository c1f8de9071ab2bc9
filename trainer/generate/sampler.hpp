// What a model in training says to a few prompts.
//
// In: where its weights lie, its tokenizer and prompt format, the prompts. Out: an answer to each,
// a function of the weights, the seed, the step and the prompt: the order of the prompts and what
// was asked before do not count. Greedy ones are so of the weights and the prompt alone. The
// weights are read where they are, as they are at that time (Trainable::gather_state() first); the
// memory of its own, keys and values for the longest prompt and its answer, is taken once. One
// thread; the tokenizer and the weights must outlive it.
//
// Errors of make(): usage, naming the prompt, for one that the format cannot take or that leaves no
// room for an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/chat/prompt_format.hpp"
#include "trainer/data/examples/example_encoder.hpp"
#include "trainer/generate/generator.hpp"

namespace trainward::trainer {

struct SamplerSetup {
  std::vector<std::string> prompts;
  // How a prompt, as a user's turn, is put to the model; nullptr: the text is gone on with.
  std::shared_ptr<const PromptFormat> format;
  EncoderRules rules;         // what stands before a text, and which tokens end one
  std::int64_t tokens = 128;  // of an answer, at most
  Sampling sampling{.temperature = 0, .top_p = 1};
  std::uint64_t seed = 0;
  int threads = 2;
};

struct Sample {
  std::string prompt;  // as it was given
  std::string answer;
  std::int64_t tokens = 0;  // of the answer
  Generated::End end = Generated::End::length;
};

class Sampler {
 public:
  static Result<std::unique_ptr<Sampler>> make(const ModelWeights& weights, Tokenizer& tokenizer,
                                               SamplerSetup setup);

  // Of the model as it is after step `step`. `enough` is asked after each token and may be empty:
  // then, and when it says no, the samples go on to their ends; else what there is of them is
  // handed out, the last one cut.
  Result<std::vector<Sample>> sample(std::int64_t step, const std::function<bool()>& enough = {});

  [[nodiscard]] std::size_t bytes() const { return decoder_->bytes(); }  // of its own

 private:
  Sampler(SamplerSetup setup, std::vector<std::vector<TokenId>> texts,
          std::unique_ptr<Decoder> decoder, const Tokenizer& tokenizer);

  SamplerSetup setup_;
  std::vector<std::vector<TokenId>> texts_;  // of the prompts
  std::unique_ptr<Decoder> decoder_;
  Generator generator_;
};

}  // namespace trainward::trainer
