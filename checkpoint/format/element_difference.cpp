#include "checkpoint/format/element_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "checkpoint/format/floats.hpp"

namespace trainward::checkpoint {
namespace {

// The bits of element `i` where elements are packed, first in the lowest bits.
unsigned packed_at(std::span<const std::byte> bytes, std::size_t i, std::size_t bits) {
  const std::size_t at = i * bits;
  auto word = std::to_integer<unsigned>(bytes[at / 8]);
  if (at / 8 + 1 < bytes.size()) word |= std::to_integer<unsigned>(bytes[at / 8 + 1]) << 8U;
  return (word >> (at % 8)) & ((1U << bits) - 1U);
}

}  // namespace

void ElementDifference::compare_packed(std::span<const std::byte> first,
                                       std::span<const std::byte> second) {
  const std::size_t bits = bits_of(type_);
  const std::size_t count = first.size() * 8 / bits;
  for (std::size_t i = 0; i < count; ++i) {
    if (packed_at(first, i, bits) != packed_at(second, i, bits)) ++differing_;
  }
}

void ElementDifference::measure(double first, double second) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double absolute = std::abs(first - second);
  if (std::isnan(absolute)) absolute = infinite;
  const double size = std::max(std::abs(first), std::abs(second));
  double relative = absolute == 0 ? 0 : absolute / size;
  if (std::isnan(relative)) relative = infinite;
  absolute_ = std::max(absolute_, absolute);
  relative_ = std::max(relative_, relative);
}

void ElementDifference::feed(std::span<const std::byte> first, std::span<const std::byte> second) {
  if (first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0) return;
  if (bits_of(type_) < 8) {
    compare_packed(first, second);
    return;
  }
  const std::size_t width = bits_of(type_) / 8;
  for (std::size_t at = 0; at + width <= first.size(); at += width) {
    const std::byte* a = first.data() + at;
    const std::byte* b = second.data() + at;
    if (std::memcmp(a, b, width) == 0) continue;
    ++differing_;
    if (is_float(type_)) measure(float_at(type_, a), float_at(type_, b));
  }
}

}  // namespace trainward::checkpoint
