#include "trainer/tokenizer/tokens/pair_table.hpp"

#include <bit>

namespace trainward::trainer {

PairTable::PairTable(std::span<const MergeRule> rules)
    : slots_(std::bit_ceil(2 * rules.size() + 2)),
      mask_(slots_.size() - 1),
      shift_(64U - static_cast<unsigned>(std::countr_zero(slots_.size()))) {
  for (std::size_t rank = 0; rank < rules.size(); ++rank) {
    const std::uint64_t key = key_of(rules[rank].left, rules[rank].right);
    std::size_t at = slot_of(key);
    while (slots_[at].key != empty && slots_[at].key != key) at = (at + 1) & mask_;
    slots_[at] = {key, {static_cast<std::uint32_t>(rank), rules[rank].merged}};
  }
}

}  // namespace trainward::trainer
