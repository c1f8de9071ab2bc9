// The order in which an epoch visits its blocks.
//
// A pure function of (number of blocks, seed, epoch): no state has to be saved to find the same
// order again after a crash, and epoch 7 can be had without going through epochs 0 to 6. The
// generator is SplitMix64 and the shuffle Fisher-Yates, both ours, because what the standard
// library's shuffle and distributions do differs between implementations.
#pragma once

#include <cstdint>
#include <vector>

namespace trainward::trainer {

// A permutation of 0 .. blocks-1; 4 bytes a block.
std::vector<std::uint32_t> shuffled_order(std::uint32_t blocks, std::uint64_t seed,
                                          std::uint64_t epoch);

}  // namespace trainward::trainer
