#include "checkpoint/format/floats.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace trainward::checkpoint {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// A float from which rounding on to a narrower type gives what rounding the double itself would:
// the last bit is set when anything was lost, so rounding never sees a false tie.
float narrow_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

void write_float(DType type, double value, std::byte* to) {
  switch (type) {
    case DType::f64:
      store(to, value);
      break;
    case DType::f32:
      store(to, static_cast<float>(value));
      break;
    case DType::bf16:
      store(to, bf16_from_float(narrow_to_odd(value)));
      break;
    default:
      store(to, f16_from_float(narrow_to_odd(value)));
      break;
  }
}

}  // namespace

float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero and what is below the smallest normal number: exact as a product
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
  }
  const std::uint32_t widened = exponent == 0x1FU ? 0xFFU : exponent + (127U - 15U);
  return std::bit_cast<float>(sign | widened << 23U | fraction << 13U);
}

std::uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr std::uint32_t infinity = 0x7F800000U;
  constexpr std::uint32_t too_large = 0x477FF000U;        // 65520, half way to what would be 65536
  constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
  if (magnitude > infinity) {
    return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
  }
  if (magnitude >= too_large) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < smallest_normal) {
    // Adding 0.5 puts the last bit that f16 has here (2^-24) into the last place of a float, and
    // the addition rounds as it should.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(
        sign | (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F)));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23U)) >> 13U));
}

double float_at(DType type, const std::byte* from) {
  switch (type) {
    case DType::f64:
      return load<double>(from);
    case DType::f32:
      return load<float>(from);
    case DType::bf16:
      return float_from_bf16(load<std::uint16_t>(from));
    default:
      return float_from_f16(load<std::uint16_t>(from));
  }
}

void convert_floats(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out) {
  if (from == to) {
    if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  const std::size_t in_bytes = bits_of(from) / 8;
  const std::size_t out_bytes = bits_of(to) / 8;
  const std::size_t count = in.size() / in_bytes;
  if (from == DType::f32 && to == DType::bf16) {  // the usual cases, without the way over double
    for (std::size_t i = 0; i < count; ++i) {
      store(out.data() + 2 * i, bf16_from_float(load<float>(in.data() + 4 * i)));
    }
    return;
  }
  if (from == DType::bf16 && to == DType::f32) {
    for (std::size_t i = 0; i < count; ++i) {
      store(out.data() + 4 * i, float_from_bf16(load<std::uint16_t>(in.data() + 2 * i)));
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    write_float(to, float_at(from, in.data() + i * in_bytes), out.data() + i * out_bytes);
  }
}

}  // namespace trainward::checkpoint
