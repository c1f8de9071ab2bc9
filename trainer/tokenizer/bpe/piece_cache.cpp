#include "trainer/tokenizer/bpe/piece_cache.hpp"

#include <algorithm>
#include <cstring>

namespace trainward::trainer {

std::size_t PieceCache::slot_of(std::string_view piece) {
  std::uint64_t hash = piece.size();
  while (!piece.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(piece.size(), sizeof word);
    std::memcpy(&word, piece.data(), taken);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29U;
    piece.remove_prefix(taken);
  }
  return (hash >> 32U) & (slot_count - 1);
}

std::span<const TokenId> PieceCache::find(std::string_view piece) const {
  const Slot& slot = slots_[slot_of(piece)];
  if (slot.bytes != piece.size() ||
      std::memcmp(slot.piece.data(), piece.data(), piece.size()) != 0) {
    return {};
  }
  return std::span(slot.ids).first(slot.tokens);
}

void PieceCache::remember(std::string_view piece, std::span<const TokenId> tokens) {
  if (piece.empty() || !fits(piece) || tokens.empty() || tokens.size() > most_tokens) return;
  Slot& slot = slots_[slot_of(piece)];
  slot.bytes = static_cast<std::uint8_t>(piece.size());
  slot.tokens = static_cast<std::uint8_t>(tokens.size());
  std::copy(piece.begin(), piece.end(), slot.piece.begin());
  std::copy(tokens.begin(), tokens.end(), slot.ids.begin());
}

}  // namespace trainward::trainer
