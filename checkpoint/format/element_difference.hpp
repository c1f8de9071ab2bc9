// How far two tensors of one type and shape are apart, element by element.
//
// In: the same stretch of both, in any number of portions, each of whole elements. Out: how many
// elements differ, and for floats by how much at most. Equal bits are equal, a NaN too; +0 and -0
// differ, by nothing. A difference to or from a NaN is infinite. Pure; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/format/tensor.hpp"

namespace trainward::checkpoint {

// A portion of this size holds whole elements of every type, those of 6 bits included.
inline constexpr std::size_t comparable_portion = 3U << 20U;

class ElementDifference {
 public:
  explicit ElementDifference(DType type) : type_(type) {}

  void feed(std::span<const std::byte> first, std::span<const std::byte> second);

  [[nodiscard]] std::uint64_t differing() const { return differing_; }
  // Zero unless the type is a float. Relative: to the larger of the two magnitudes.
  [[nodiscard]] double largest_absolute() const { return absolute_; }
  [[nodiscard]] double largest_relative() const { return relative_; }

 private:
  void compare_packed(std::span<const std::byte> first, std::span<const std::byte> second);
  void measure(double first, double second);

  DType type_;
  std::uint64_t differing_ = 0;
  double absolute_ = 0;
  double relative_ = 0;
};

}  // namespace trainward::checkpoint
