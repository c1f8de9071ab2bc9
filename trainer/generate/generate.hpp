// Goes on with a text, token by token, as a trained model would.
//
// In: a checkpoint, its tokenizer, a prompt and how to choose. Out: each new token's bytes, as soon
// as they are there. The same checkpoint, prompt, choice and seed give the same text. Ends at the
// token that ends a document, after `tokens` of them, or when `show` says so.
// Errors: those of the reader, the decoder and the tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "trainer/generate/sampling.hpp"
#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct GenerateJob {
  std::filesystem::path checkpoint;  // a folder such as step-00000300
  std::string prompt;                // empty: the beginning of a document
  std::int64_t tokens = 200;         // at most
  Sampling sampling;
  std::uint64_t seed = 0;
  int threads = 2;
  std::function<bool(std::string_view bytes)> show;  // false: enough
};

struct Generated {
  enum class End { document, length, asked } end = End::length;
  std::int64_t step = 0;  // of the checkpoint
  std::int64_t prompt_tokens = 0;
  std::int64_t tokens = 0;
  std::string text;
};

Result<Generated> generate(const GenerateJob& job, Tokenizer& tokenizer);

}  // namespace trainward::trainer
