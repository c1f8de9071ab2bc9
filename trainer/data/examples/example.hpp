// An example as a model takes it: tokens, and which of them it is to learn to say.
//
// The first token of an example is never one of those: nothing comes before it to predict it from.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct Example {
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> targets;  // as many; 1: its prediction is trained

  [[nodiscard]] std::int64_t target_count() const;
};

// What is done with an example that is longer than a row.
enum class TooLong { keep_start, keep_end, drop };

// Cuts the example to `most` tokens. keep_end keeps the first `beginning` tokens in place too: a
// model that has always seen its begin token first is not to miss it. False: it is to be dropped,
// because that is what was asked for; an example without a target is up to the caller.
bool cut(Example& example, std::int64_t most, TooLong rule, std::int64_t beginning);

}  // namespace trainward::trainer
