// Byte-pair encoding of one piece.
//
// In: the tokens of its bytes. Out: the tokens that are left when, as long as there is one, the
// pair with the lowest rank is merged, the leftmost of equals first. Short pieces are searched
// again after each merge; long ones keep their pairs in a heap, so a piece of n bytes takes O(n log
// n) steps whatever it holds. Scratch memory is kept between calls: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/tokenizer/tokens/pair_table.hpp"

namespace trainward::trainer {

class Merger {
 public:
  // The table must outlive the merger.
  explicit Merger(const PairTable& merges) : merges_(&merges) {}

  // Appends to `out`. `tokens` is used up.
  void merge(std::vector<TokenId>& tokens, std::vector<TokenId>& out);

 private:
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t at;  // the left one's place
    TokenId merged;
  };
  struct Link {
    std::uint32_t before;
    std::uint32_t after;
  };

  void merge_short(std::vector<TokenId>& tokens, std::vector<TokenId>& out);
  void merge_long(std::vector<TokenId>& tokens, std::vector<TokenId>& out);
  void offer(const std::vector<TokenId>& tokens, std::uint32_t at);

  const PairTable* merges_;
  std::vector<Merge> pairs_;          // short: what each token makes with the next
  std::vector<Candidate> heap_;       // long: may hold pairs that are gone
  std::vector<Link> links_;           // long: the tokens that are left, as a list
  std::vector<std::uint32_t> ranks_;  // long: of each token with the next, now
};

}  // namespace trainward::trainer
