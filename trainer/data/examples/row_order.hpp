// Which examples stand together in a row of a batch, and in which order an epoch visits the rows.
//
// Pure functions of lengths, block and seed: nothing has to be saved to find the same rows again
// after a crash, and any epoch can be had without those before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainward::trainer {

// Each example in one row, and no row without one.
struct RowPlan {
  std::vector<std::uint32_t> examples;  // row by row
  std::vector<std::uint32_t> ends;      // of each row in `examples`

  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(ends.size()); }
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint32_t i) const;
};

RowPlan one_a_row(std::uint32_t examples);

// Examples of `lengths`, each at most `block`, put into few rows of `block` tokens: the longest
// first, each into the fullest row that still has room for it. Once for all epochs: so each has as
// many rows, and a number of epochs is a number of steps. Which of the examples of one length stand
// together is decided by the seed, not by the order of the file, where neighbours are often alike.
RowPlan packed(std::span<const std::uint32_t> lengths, std::uint32_t block, std::uint64_t seed);

// The order in which an epoch visits rows that hold `lengths` tokens: a permutation.
//
// Rows of similar length follow each other, `group` at a time, to keep padding low when they are
// computed together: shuffled, sorted by length within windows of 50 groups, and the groups
// shuffled once more. What fills no group comes last. Every row may stand anywhere: over the epochs
// neither short nor long ones come early.
std::vector<std::uint32_t> order_by_length(std::span<const std::uint32_t> lengths,
                                           std::uint32_t group, std::uint64_t seed,
                                           std::uint64_t epoch);

// The examples that are held out of training: `share` of `examples`, at least one and not all,
// chosen by the seed; both parts in ascending order. Nothing is held out of fewer than two.
struct Split {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> held_out;
};
Split hold_out(std::uint32_t examples, double share, std::uint64_t seed);

}  // namespace trainward::trainer
