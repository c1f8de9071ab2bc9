// SplitMix64: numbers that look random, the same for a seed on every machine and in every release.
//
// Written out because the distributions of the standard library differ between implementations.
// Weights, the order of the data, waits and simulated worlds depend on these bits.
#pragma once

#include <cstdint>

namespace trainward {

inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15U;

// Spreads a number over 64 bits: neighbours in, nothing in common out.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += splitmix_step;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// The numbers of a seed, one after the other.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    const std::uint64_t result = splitmix64(state_);
    state_ += splitmix_step;
    return result;
  }

  // Uniform in [0, bound), without bias; bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    // The first 2^64 mod bound values would make the low results likelier: drawn again.
    const std::uint64_t reject_below = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < reject_below) value = next();
    return value % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace trainward
