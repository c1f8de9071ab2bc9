#include "trainer/data/shuffle.hpp"

#include <numeric>
#include <utility>

namespace trainward::trainer {

std::uint64_t SplitMix64::next() {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::uint64_t SplitMix64::below(std::uint64_t bound) {
  // The first 2^64 mod bound values would make the low results likelier: drawn again.
  const std::uint64_t reject_below = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < reject_below) value = next();
  return value % bound;
}

std::vector<std::uint32_t> shuffled_order(std::uint32_t blocks, std::uint64_t seed,
                                          std::uint64_t epoch) {
  std::vector<std::uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0U);
  // The seed goes through the mixer before the epoch is added: neighbouring seeds must not share
  // epochs.
  SplitMix64 random(SplitMix64(seed).next() + epoch);
  for (std::uint32_t i = blocks; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

}  // namespace trainward::trainer
