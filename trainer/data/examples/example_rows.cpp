#include "trainer/data/examples/example_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trainward::trainer {
namespace {

RowPlan plan_rows(const ExampleSet& set, std::span<const std::uint32_t> chosen,
                  const RowShape& shape) {
  if (!shape.packing) return one_a_row(static_cast<std::uint32_t>(chosen.size()));
  std::vector<std::uint32_t> lengths;
  lengths.reserve(chosen.size());
  for (const std::uint32_t example : chosen) lengths.push_back(set.lengths()[example]);
  return packed(lengths, static_cast<std::uint32_t>(shape.block), shape.seed);
}

}  // namespace

RowBuffer::RowBuffer(std::int64_t rows, const RowShape& shape)
    : ids_(static_cast<std::size_t>(rows * shape.block)),
      weights_(ids_.size()),
      segments_(shape.packing ? ids_.size() : 0) {}

ExampleRows::ExampleRows(const ExampleSet& set, std::vector<std::uint32_t> chosen,
                         const RowShape& shape)
    : set_(&set), shape_(shape), chosen_(std::move(chosen)), plan_(plan_rows(set, chosen_, shape)) {
  for (std::uint32_t row = 0; row < plan_.rows(); ++row) {
    std::uint32_t length = 0;
    std::int64_t targets = 0;
    for (const std::uint32_t place : plan_.row(row)) {
      length += set.lengths()[chosen_[place]];
      targets += set.targets(chosen_[place]);
    }
    lengths_.push_back(length);
    targets_.push_back(static_cast<std::uint32_t>(targets));
  }
}

std::int64_t ExampleRows::targets() const {
  return std::accumulate(targets_.begin(), targets_.end(), std::int64_t{0});
}

void ExampleRows::write(std::uint32_t row, float weight, std::int64_t place, RowBuffer& out) const {
  write_empty(place, out);
  const auto block = static_cast<std::size_t>(shape_.block);
  std::size_t at = static_cast<std::size_t>(place) * block;
  std::int32_t segment = 0;
  for (const std::uint32_t i : plan_.row(row)) {
    const std::size_t length = set_->lengths()[chosen_[i]];
    set_->copy(chosen_[i], weight, std::span(out.ids_).subspan(at, length),
               std::span(out.weights_).subspan(at, length));
    if (shape_.packing) {
      const std::size_t left = (static_cast<std::size_t>(place) + 1) * block - at;
      // What is not filled by later examples is padding, a segment of its own.
      std::ranges::fill(std::span(out.segments_).subspan(at, length), segment);
      std::ranges::fill(std::span(out.segments_).subspan(at + length, left - length), segment + 1);
    }
    at += length;
    ++segment;
  }
}

void ExampleRows::write_empty(std::int64_t place, RowBuffer& out) const {
  const auto block = static_cast<std::size_t>(shape_.block);
  const std::size_t at = static_cast<std::size_t>(place) * block;
  std::ranges::fill(std::span(out.ids_).subspan(at, block), shape_.padding);
  std::ranges::fill(std::span(out.weights_).subspan(at, block), 0.0F);
  if (shape_.packing) std::ranges::fill(std::span(out.segments_).subspan(at, block), 0);
}

}  // namespace trainward::trainer
