// The floating-point types of tensors, element by element: read as double, and written as another.
//
// In: little-endian elements. Out: the nearest value of the other type, ties to even; what is too
// large becomes infinite, and a NaN stays a NaN (quiet, with as much of its payload as there is
// room for). Only f16, bf16, f32 and f64 count: the 8-bit types and below need scales that are not
// in the file. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/format/tensor.hpp"
#include "common/base/bf16.hpp"

namespace trainward::checkpoint {

constexpr bool is_float(DType type) {
  return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

float float_from_f16(std::uint16_t bits);
std::uint16_t f16_from_float(float value);

// The value of the element that begins at `from`; the type must be a float.
double float_at(DType type, const std::byte* from);

// Both types must be floats, and both spans hold the same number of whole elements.
void convert_floats(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out);

}  // namespace trainward::checkpoint
