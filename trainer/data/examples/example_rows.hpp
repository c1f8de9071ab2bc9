// Chosen examples of a set as the rows of batches.
//
// Padding: each example begins a row, and what it does not fill is padding, which has no weight;
// nothing else is needed, since tokens only look back. Packing: several examples share a row, each
// a segment of its own (0, 1, 2, … from the left, padding the last), and none is trained to begin
// where another ended. The set is borrowed and must outlive this. Any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/batch/token_batch.hpp"
#include "trainer/data/examples/example_set.hpp"
#include "trainer/data/examples/row_order.hpp"

namespace trainward::trainer {

struct RowShape {
  std::int64_t block = 0;  // tokens in a row; no example is longer
  bool packing = false;
  TokenId padding = 0;  // any id the model has
  std::uint64_t seed = 0;
};

// The rows of one batch, and what TokenBatch borrows.
class RowBuffer {
 public:
  RowBuffer(std::int64_t rows, const RowShape& shape);

  [[nodiscard]] TokenBatch batch() const { return {ids_, weights_, segments_}; }

 private:
  friend class ExampleRows;

  std::vector<std::int32_t> ids_;
  std::vector<float> weights_;
  std::vector<std::int32_t> segments_;  // empty without packing
};

class ExampleRows {
 public:
  ExampleRows(const ExampleSet& set, std::vector<std::uint32_t> chosen, const RowShape& shape);

  [[nodiscard]] std::int64_t rows() const { return plan_.rows(); }
  [[nodiscard]] std::int64_t examples() const { return static_cast<std::int64_t>(chosen_.size()); }
  // Tokens that are no padding, a number a row.
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::int64_t targets(std::uint32_t row) const { return targets_[row]; }
  [[nodiscard]] std::int64_t targets() const;
  [[nodiscard]] const RowShape& shape() const { return shape_; }

  // Row `row`, each of its targets with `weight`, as the `place`th of the buffer.
  void write(std::uint32_t row, float weight, std::int64_t place, RowBuffer& out) const;
  // A row of nothing but padding.
  void write_empty(std::int64_t place, RowBuffer& out) const;

 private:
  const ExampleSet* set_;
  RowShape shape_;
  std::vector<std::uint32_t> chosen_;
  RowPlan plan_;  // of places in chosen_
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> targets_;
};

}  // namespace trainward::trainer
