#include "trainer/data/shuffle.hpp"

#include <numeric>
#include <utility>

#include "common/base/random.hpp"

namespace trainward::trainer {

std::vector<std::uint32_t> shuffled_order(std::uint32_t blocks, std::uint64_t seed,
                                          std::uint64_t epoch) {
  std::vector<std::uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0U);
  // The seed goes through the mixer before the epoch is added: neighbouring seeds must not share
  // epochs.
  SplitMix64 random(splitmix64(seed) + epoch);
  for (std::uint32_t i = blocks; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

}  // namespace trainward::trainer
