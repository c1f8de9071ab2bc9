// The tokens of pieces met before.
//
// Text repeats its words; most pieces need no merging. A fixed number of slots, one place for each
// piece, where the newest wins: memory is bounded (about 6 MiB) and nothing is ever searched. Only
// short pieces of few tokens are kept. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/tokenizer/tokenizer.hpp"

namespace trainward::trainer {

class PieceCache {
 public:
  static constexpr std::size_t longest_piece = 40;
  static constexpr std::size_t most_tokens = 12;

  PieceCache() : slots_(slot_count) {}

  static bool fits(std::string_view piece) { return piece.size() <= longest_piece; }

  // Empty when the piece is not there; valid until the next call of remember().
  [[nodiscard]] std::span<const TokenId> find(std::string_view piece) const;
  void remember(std::string_view piece, std::span<const TokenId> tokens);

 private:
  static constexpr std::size_t slot_count = std::size_t{1} << 16U;
  struct Slot {
    std::uint8_t bytes = 0;  // 0: nothing is here
    std::uint8_t tokens = 0;
    std::array<char, longest_piece> piece{};
    std::array<TokenId, most_tokens> ids{};
  };

  static std::size_t slot_of(std::string_view piece);

  std::vector<Slot> slots_;
};

}  // namespace trainward::trainer
