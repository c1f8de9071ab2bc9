// XXH3-128 of a byte stream, one checksum for every block of 16 MiB (the last may be shorter), so
// that damage in a large file is reported within 16 MiB of where it is.
//
// In: bytes in any portions. Out: 32 lower-case hexadecimal digits a block, most significant first.
// It finds accidental damage; it is no defence against a forger. One owner, no shared state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::checkpoint {

inline constexpr std::uint64_t block_bytes = 16ULL << 20U;

class BlockHasher {
 public:
  BlockHasher();
  BlockHasher(const BlockHasher&) = delete;
  BlockHasher& operator=(const BlockHasher&) = delete;
  BlockHasher(BlockHasher&&) noexcept;
  BlockHasher& operator=(BlockHasher&&) noexcept;
  ~BlockHasher();

  void update(std::string_view bytes);
  // The checksums of all blocks; none for an empty stream. The object is spent afterwards.
  std::vector<std::string> finish();

 private:
  struct State;
  void close_block();
  std::unique_ptr<State> state_;
};

std::string hash_hex(std::string_view bytes);

}  // namespace trainward::checkpoint
