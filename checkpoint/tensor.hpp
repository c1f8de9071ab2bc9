// Tensors as a checkpoint sees them: a name, an element type, a shape and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::checkpoint {

// The element types of the safetensors format that are a whole number of bytes.
enum class DType {
  boolean,
  u8,
  i8,
  f8_e4m3,
  f8_e5m2,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64
};

std::size_t size_of(DType type);         // bytes of one element
std::string_view to_string(DType type);  // the format's own spelling: "F32", "BF16"
std::optional<DType> dtype_from(std::string_view text);

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  // row-major; empty for a scalar
};

// Borrowed: the bytes stay the caller's and must live as long as the view. Little-endian.
struct TensorView {
  TensorInfo info;
  std::span<const std::byte> bytes;
};

}  // namespace trainward::checkpoint
