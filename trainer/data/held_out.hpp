// The blocks that are kept for evaluation: the last of the corpus, in their order.
//
// The corpus is borrowed. Batches are whole: the first blocks fill up the last batch again, so each
// is counted once or, those few, twice. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/data/corpus.hpp"

namespace trainward::trainer {

class HeldOut {
 public:
  // `blocks` of the corpus, fewer than it has; `batch_size` sequences at a time.
  HeldOut(const Corpus& corpus, std::int64_t blocks, std::int64_t batch_size);

  [[nodiscard]] std::int64_t batches() const { return (blocks_ + batch_size_ - 1) / batch_size_; }
  // Row-major [batch, block] token ids of batch `i`, valid until the next call.
  Result<std::span<const std::int32_t>> batch(std::int64_t i);

 private:
  const Corpus* corpus_;
  std::int64_t blocks_;
  std::int64_t batch_size_;
  std::vector<std::int32_t> batch_;
};

}  // namespace trainward::trainer
