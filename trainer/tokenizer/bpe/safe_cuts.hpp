// Where text of a vocabulary in characters may be cut without another outcome.
//
// Llama 2's files merge a whole text as one piece. Where no merge can join what lies on both sides
// of a place, each side comes out as it does alone, and a word at a time is much quicker than a
// document: words repeat, and are remembered. The places looked at are those before a U+2581, which
// stands for a space; a run of them is often one token and then stays whole.
// In: the merges. Out: lengths of parts. Immutable once built; any number of threads may look.
#pragma once

#include <string_view>
#include <vector>

#include "trainer/tokenizer/file/tokenizer_file.hpp"

namespace trainward::trainer {

class SafeCuts {
 public:
  explicit SafeCuts(const TokenizerFile& file);

  [[nodiscard]] bool possible() const { return possible_; }
  // Bytes at the front of `piece`, which is not empty, that are to be merged together.
  [[nodiscard]] std::size_t first_part(std::string_view piece) const;

 private:
  bool possible_ = false;
  std::vector<char32_t> joined_;  // the characters that some merge joins with a U+2581; sorted
};

}  // namespace trainward::trainer
