// Hands out batches of blocks, epoch after epoch, from a place that can be saved.
//
// The corpus is borrowed and must outlive the reader. Each epoch visits every block once, in the
// order shuffled_order(blocks, seed, epoch); a batch that reaches the end of an epoch is filled
// from the next. The cursor is all there is to save: the same corpus, seed and cursor give the same
// next batch, bit for bit. Memory: one batch plus 4 bytes a block. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/corpus.hpp"

namespace trainward::trainer {

// The next block to hand out. position counts blocks of this epoch: 0 .. blocks-1.
struct Cursor {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  friend bool operator==(const Cursor&, const Cursor&) = default;
};

class BatchReader {
 public:
  // The last `held_out` blocks of the corpus, fewer than it has, are never handed out.
  BatchReader(const Corpus& corpus, std::int64_t batch_size, std::uint64_t seed,
              std::int64_t held_out = 0);

  [[nodiscard]] Cursor cursor() const { return cursor_; }
  // Error of kind corrupt when the corpus has no such place; the reader then stays where it was.
  Status seek(Cursor cursor);

  // Row-major [batch, block] token ids, valid until the next call. An error, when the data changed
  // on the disk, leaves the cursor where it was.
  Result<std::span<const std::int32_t>> next();
  // The same without looking at the data.
  void skip();

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

}  // namespace trainward::trainer
