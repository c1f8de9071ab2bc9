#include "trainer/model/training/checksum.hpp"

#include <xxhash.h>

namespace trainward::trainer {

std::uint64_t add_checksum(std::uint64_t so_far, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), so_far);
}

}  // namespace trainward::trainer
