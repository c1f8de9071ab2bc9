#include "trainer/data/held_out.hpp"

namespace trainward::trainer {

HeldOut::HeldOut(const Corpus& corpus, std::int64_t blocks, std::int64_t batch_size)
    : corpus_(&corpus),
      blocks_(blocks),
      batch_size_(batch_size),
      batch_(static_cast<std::size_t>(batch_size * corpus.block_size())) {}

Result<std::span<const std::int32_t>> HeldOut::batch(std::int64_t i) {
  const auto block_size = static_cast<std::size_t>(corpus_->block_size());
  const std::int64_t first = corpus_->blocks() - blocks_;
  for (std::int64_t row = 0; row < batch_size_; ++row) {
    const std::int64_t block = first + (i * batch_size_ + row) % blocks_;
    auto ok = corpus_->copy_block(
        block, std::span(batch_).subspan(static_cast<std::size_t>(row) * block_size, block_size));
    if (!ok) return propagate(ok);
  }
  return std::span<const std::int32_t>(batch_);
}

}  // namespace trainward::trainer
