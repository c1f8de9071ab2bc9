// Hands out batches of blocks, epoch after epoch, from a place that can be saved.
//
// The corpus is borrowed and must outlive the reader. Each epoch visits every block once, in the
// order shuffled_order(blocks, seed, epoch); a batch that reaches the end of an epoch is filled
// from the next. The cursor is all there is to save: the same corpus, seed and cursor give the same
// next batch, bit for bit. Memory: one batch plus 4 bytes a block. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/batch/batch_source.hpp"
#include "trainer/data/corpus.hpp"

namespace trainward::trainer {

// The order in which an epoch visits its blocks: a permutation of 0 .. blocks-1; 4 bytes a block.
// A pure function: no state has to be saved to find the same order again after a crash, and epoch 7
// can be had without going through epochs 0 to 6. The generator is SplitMix64 and the shuffle
// Fisher-Yates, both ours, because what the standard library's shuffle and distributions do differs
// between implementations.
std::vector<std::uint32_t> shuffled_order(std::uint32_t blocks, std::uint64_t seed,
                                          std::uint64_t epoch);

class BatchReader final : public BatchSource {
 public:
  // The last `held_out` blocks of the corpus, fewer than it has, are never handed out.
  BatchReader(const Corpus& corpus, std::int64_t batch_size, std::uint64_t seed,
              std::int64_t held_out = 0);

  [[nodiscard]] Cursor cursor() const override { return cursor_; }
  Status seek(Cursor cursor) override;
  // Nothing but ids. An error, when the data changed on the disk.
  Result<TokenBatch> next() override;
  [[nodiscard]] std::int64_t tokens() const override {
    return static_cast<std::int64_t>(batch_.size());
  }
  void skip() override;

 private:
  [[nodiscard]] Cursor after(Cursor cursor) const;

  const Corpus* corpus_;
  std::int64_t blocks_;  // of an epoch
  std::uint64_t seed_;
  Cursor cursor_;
  std::int64_t ordered_epoch_ = -1;  // the epoch order_ belongs to
  std::vector<std::uint32_t> order_;
  std::vector<std::int32_t> batch_;
};

// The blocks that are kept for evaluation: the last of the corpus, in their order.
//
// The corpus is borrowed. Batches are whole: the first blocks fill up the last batch again, so each
// is counted once or, those few, twice. One thread.
class HeldOut final : public HeldOutSource {
 public:
  // `blocks` of the corpus, fewer than it has; `batch_size` sequences at a time.
  HeldOut(const Corpus& corpus, std::int64_t blocks, std::int64_t batch_size);

  [[nodiscard]] std::int64_t batches() const override {
    return (blocks_ + batch_size_ - 1) / batch_size_;
  }
  Result<TokenBatch> batch(std::int64_t i) override;

 private:
  const Corpus* corpus_;
  std::int64_t blocks_;
  std::int64_t batch_size_;
  std::vector<std::int32_t> batch_;
};

}  // namespace trainward::trainer
