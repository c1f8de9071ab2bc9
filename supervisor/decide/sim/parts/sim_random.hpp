// The one source of chance in a simulated world: splitmix64 seeds xoshiro256**.
//
// Written out here because the distributions of the standard library differ between
// implementations, and a seed has to mean the same world everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/random.hpp"

namespace trainward::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    SplitMix64 spread(seed);
    for (std::uint64_t& word : words_) word = spread.next();
  }

  std::uint64_t next() {
    const std::uint64_t result = turn(words_[1] * 5, 7) * 9;
    const std::uint64_t shifted = words_[1] << 17U;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = turn(words_[3], 45);
    return result;
  }

  // Both ends included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    if (most <= least) return least;
    const auto span = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(next() % span);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  // `usual`, give or take a fifth.
  std::int64_t about(std::int64_t usual) { return between(usual - usual / 5, usual + usual / 5); }

 private:
  static std::uint64_t turn(std::uint64_t x, unsigned by) { return (x << by) | (x >> (64U - by)); }
  std::array<std::uint64_t, 4> words_{};
};

// FNV-1a, to tell whether two runs were the same.
class Digest {
 public:
  void add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(value >> (8U * unsigned(i))));
  }
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3U; }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace trainward::sim
