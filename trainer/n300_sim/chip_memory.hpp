// The account of one simulated chip's DRAM.
//
// As tt-metal's allocator places a buffer: interleaved over 12 banks, in pages of 2048 bytes, so
// that it takes the same number of whole pages of every bank. Nothing is fragmented: what is free
// is one block. An account only; the bytes themselves live elsewhere. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.hpp"

namespace trainward::n300 {

class ChipMemory {
 public:
  static constexpr std::uint64_t banks = 12;
  static constexpr std::uint64_t page_bytes = 2048;

  // Bytes of the chip, and how many of them are taken before the first buffer.
  ChipMemory(std::uint64_t capacity, std::uint64_t base)
      : bank_bytes_(capacity / banks), used_(base / banks), most_used_(used_) {}

  // Takes a buffer's share of every bank. The error (kind transient: a new process has all of the
  // memory) is the sentence the real allocator prints; nothing is taken then.
  Status take(std::uint64_t bytes);
  // What take() took for so many bytes.
  void give(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t used_bytes() const { return used_ * banks; }
  [[nodiscard]] std::uint64_t most_used_bytes() const { return most_used_ * banks; }
  [[nodiscard]] std::uint64_t capacity() const { return bank_bytes_ * banks; }

 private:
  static std::uint64_t share_of_a_bank(std::uint64_t bytes);
  [[nodiscard]] std::string refusal(std::uint64_t bytes) const;

  std::uint64_t bank_bytes_;
  std::uint64_t used_;       // of each bank
  std::uint64_t most_used_;  // so far
};

}  // namespace trainward::n300
