// Shows tokens one by one as text, whole characters only.
//
// In: tokens, in their order. Out: for each, the characters that it completes, valid UTF-8; the
// beginning of a character is held back until the rest comes, or finish() is called. A byte that is
// part of no character becomes U+FFFD. What comes out in all is what the tokenizer makes of all
// tokens at once, put into valid UTF-8. Borrows the tokenizer. One thread.
// Errors: those of Tokenizer::decode(); nothing is lost by them.
#pragma once

#include <string>

#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class StreamDecoder {
 public:
  // `options.begins` false: the output continues other text.
  explicit StreamDecoder(const Tokenizer& tokenizer, const DecodeOptions& options = {})
      : tokenizer_(&tokenizer), options_(options) {}

  Result<std::string> put(TokenId id);
  // What was held back; the object may be used on.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  DecodeOptions options_;  // `begins` until something has come
  std::string held_;
};

}  // namespace trainward::trainer
