// Memory of its own pages, as direct I/O needs it; move-only. Zero-filled.
//
// Large ones ask for huge pages. Pages come into being when they are touched first, which takes
// thirty times as long as a copy into pages that are there: populate() pays that in advance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "common/base/error.hpp"

namespace trainward::checkpoint {

inline constexpr std::uint64_t page_bytes = 4096;

constexpr std::uint64_t round_to_pages(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

class AlignedMemory {
 public:
  AlignedMemory() = default;
  AlignedMemory(AlignedMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  AlignedMemory& operator=(AlignedMemory&& other) noexcept;
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;
  ~AlignedMemory();

  // At least `size` bytes, in whole pages.
  static Result<AlignedMemory> allocate(std::uint64_t size);
  // Kind transient when the machine has not got as much to give.
  Status populate();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit AlignedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace trainward::checkpoint
