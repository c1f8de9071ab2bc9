// Where the batches of a run come from, and how far it is through them.
//
// What they hand out is valid until the next call. One thread.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "trainer/batch/token_batch.hpp"

namespace trainward::trainer {

// The next row to hand out: `position` counts those of this epoch. With the data and the seed, it
// is all there is to save: the same cursor gives the same next batch, bit for bit.
struct Cursor {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  friend bool operator==(const Cursor&, const Cursor&) = default;
};

class BatchSource {
 public:
  BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  BatchSource(BatchSource&&) = delete;
  BatchSource& operator=(BatchSource&&) = delete;
  virtual ~BatchSource() = default;

  [[nodiscard]] virtual Cursor cursor() const = 0;
  // Error of kind corrupt when the data has no such place; the source then stays where it was.
  virtual Status seek(Cursor cursor) = 0;
  // A whole step's sequences. An error leaves the cursor where it was.
  virtual Result<TokenBatch> next() = 0;
  // Of what next() handed out last, without padding.
  [[nodiscard]] virtual std::int64_t tokens() const = 0;
  // The same as next() without looking at the data.
  virtual void skip() = 0;
};

// What is not trained on, the same batches each time.
class HeldOutSource {
 public:
  HeldOutSource() = default;
  HeldOutSource(const HeldOutSource&) = delete;
  HeldOutSource& operator=(const HeldOutSource&) = delete;
  HeldOutSource(HeldOutSource&&) = delete;
  HeldOutSource& operator=(HeldOutSource&&) = delete;
  virtual ~HeldOutSource() = default;

  [[nodiscard]] virtual std::int64_t batches() const = 0;
  // With weights, they are divided by the number of targets of all batches: the losses of the
  // batches add up to the mean. Without, each batch's loss is its own mean.
  virtual Result<TokenBatch> batch(std::int64_t i) = 0;
};

}  // namespace trainward::trainer
