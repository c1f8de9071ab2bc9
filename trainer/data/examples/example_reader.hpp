// Steps of examples, epoch after epoch, from a place that can be saved; and the examples that are
// evaluated on.
//
// A step is `rows_a_step` rows. Each of its targets weighs 1/N, N being the targets of the whole
// step, so the loss is the mean over targets however the step is cut into batches and ranks. An
// epoch visits every row once; its last step is filled with rows of padding, which weigh nothing,
// so an epoch is a whole number of steps. Rows stand in the order of order_by_length(), or, packed
// and so all about as long, of shuffled_order(). The same examples, shape, rows a step, seed and
// cursor give the same step, bit for bit. Rows are borrowed and must outlive this. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/batch/batch_source.hpp"
#include "trainer/data/examples/example_rows.hpp"

namespace trainward::trainer {

class ExampleReader final : public BatchSource {
 public:
  // `rows` has at least one.
  ExampleReader(const ExampleRows& rows, std::int64_t rows_a_step, std::uint64_t seed);

  [[nodiscard]] Cursor cursor() const override { return cursor_; }
  Status seek(Cursor cursor) override;
  Result<TokenBatch> next() override;
  void skip() override;

  [[nodiscard]] std::int64_t steps_per_epoch() const;
  // Of the step that next() returned last.
  [[nodiscard]] std::int64_t targets() const { return targets_; }
  [[nodiscard]] std::int64_t tokens() const override { return tokens_; }

 private:
  void put_in_order(std::int64_t epoch);

  const ExampleRows* rows_;
  std::int64_t rows_a_step_;
  std::uint64_t seed_;
  Cursor cursor_;
  std::int64_t ordered_epoch_ = -1;  // the epoch order_ belongs to
  std::vector<std::uint32_t> order_;
  RowBuffer buffer_;
  std::int64_t targets_ = 0;
  std::int64_t tokens_ = 0;
};

// Every row once, in their order, `rows_a_batch` at a time; the last batch is filled with padding.
// Each target weighs one share of all of them.
class HeldOutExamples final : public HeldOutSource {
 public:
  HeldOutExamples(const ExampleRows& rows, std::int64_t rows_a_batch);

  [[nodiscard]] std::int64_t batches() const override;
  Result<TokenBatch> batch(std::int64_t i) override;

 private:
  const ExampleRows* rows_;
  std::int64_t rows_a_batch_;
  float weight_;
  RowBuffer buffer_;
};

}  // namespace trainward::trainer
