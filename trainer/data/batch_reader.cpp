#include "trainer/data/batch_reader.hpp"

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

BatchReader::BatchReader(const Corpus& corpus, std::int64_t batch_size, std::uint64_t seed,
                         std::int64_t held_out)
    : corpus_(&corpus),
      blocks_(corpus.blocks() - held_out),
      seed_(seed),
      batch_(static_cast<std::size_t>(batch_size * corpus.block_size())) {}

Status BatchReader::seek(Cursor cursor) {
  if (cursor.epoch < 0 || cursor.position < 0 || cursor.position >= blocks_) {
    return fail(ErrorKind::corrupt,
                fmt::format("the data has no block {} in epoch {}; an epoch has {} blocks",
                            cursor.position, cursor.epoch, blocks_),
                "cursor", "was the data changed since the checkpoint was written?");
  }
  cursor_ = cursor;
  return {};
}

Result<TokenBatch> BatchReader::next() {
  const auto block_size = static_cast<std::size_t>(corpus_->block_size());
  Cursor cursor = cursor_;
  for (std::size_t row = 0; row < batch_.size(); row += block_size) {
    if (ordered_epoch_ != cursor.epoch) {
      order_ = shuffled_order(static_cast<std::uint32_t>(blocks_), seed_,
                              static_cast<std::uint64_t>(cursor.epoch));
      ordered_epoch_ = cursor.epoch;
    }
    auto ok = corpus_->copy_block(order_[static_cast<std::size_t>(cursor.position)],
                                  std::span(batch_).subspan(row, block_size));
    if (!ok) return propagate(ok);
    cursor = after(cursor);
  }
  cursor_ = cursor;
  return TokenBatch(batch_);
}

void BatchReader::skip() {
  const auto rows = static_cast<std::int64_t>(batch_.size()) / corpus_->block_size();
  for (std::int64_t row = 0; row < rows; ++row) cursor_ = after(cursor_);
}

Cursor BatchReader::after(Cursor cursor) const {
  if (cursor.position + 1 == blocks_) return {cursor.epoch + 1, 0};
  return {cursor.epoch, cursor.position + 1};
}

HeldOut::HeldOut(const Corpus& corpus, std::int64_t blocks, std::int64_t batch_size)
    : corpus_(&corpus),
      blocks_(blocks),
      batch_size_(batch_size),
      batch_(static_cast<std::size_t>(batch_size * corpus.block_size())) {}

Result<TokenBatch> HeldOut::batch(std::int64_t i) {
  const auto block_size = static_cast<std::size_t>(corpus_->block_size());
  const std::int64_t first = corpus_->blocks() - blocks_;
  for (std::int64_t row = 0; row < batch_size_; ++row) {
    const std::int64_t block = first + (i * batch_size_ + row) % blocks_;
    auto ok = corpus_->copy_block(
        block, std::span(batch_).subspan(static_cast<std::size_t>(row) * block_size, block_size));
    if (!ok) return propagate(ok);
  }
  return TokenBatch(batch_);
}

}  // namespace trainward::trainer
