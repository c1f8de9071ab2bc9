// Random numbers as a function of (seed, name, position): no state, no order, the same everywhere.
//
// SplitMix64 of a counter. Only integer and basic floating-point arithmetic decides the bits,
// except in the tails of normal(), which take one logarithm in double precision.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainward::trainer {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  [[nodiscard]] std::uint64_t bits(std::uint64_t position) const;
  [[nodiscard]] double uniform(std::uint64_t position) const;  // in (0, 1), 53 bits
  [[nodiscard]] double normal(std::uint64_t position) const;   // mean 0, deviation 1

 private:
  std::uint64_t key_;
};

}  // namespace trainward::trainer
