// What two neighbouring tokens become, and how early: the merges of a BPE vocabulary.
//
// Open addressing over a power of two, at most half full: a look-up is one or two cache lines.
// Immutable once built; any number of threads may look.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

struct MergeRule {
  TokenId left = 0;
  TokenId right = 0;
  TokenId merged = 0;

  friend bool operator==(const MergeRule&, const MergeRule&) = default;
};

struct Merge {
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t rank = never;  // the lowest goes first
  TokenId merged = 0;
};

class PairTable {
 public:
  // A rule's rank is its place; of two for the same pair the later counts.
  explicit PairTable(std::span<const MergeRule> rules);

  [[nodiscard]] Merge find(TokenId left, TokenId right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) return slots_[at].merge;
      if (slots_[at].key == empty) return {};
    }
  }

 private:
  // No pair has it: ids are not negative.
  static constexpr std::uint64_t empty = std::numeric_limits<std::uint64_t>::max();
  struct Slot {
    std::uint64_t key = empty;
    Merge merge;
  };

  static std::uint64_t key_of(TokenId left, TokenId right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U |
           static_cast<std::uint32_t>(right);
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    // The upper bits: the lower ones of a product know nothing of the left token.
    return (key * 0x9E3779B97F4A7C15ULL) >> shift_;
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
};

}  // namespace trainward::trainer
