// Tensors as a checkpoint sees them: a name, an element type, a shape and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::checkpoint {

// The element types of the safetensors format. Those below a byte are packed: a tensor of them is a
// whole number of bytes all the same.
enum class DType {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

std::size_t bits_of(DType type);         // of one element
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

// A tensor whose bytes are fetched while they are written: `read` fills `into` with those that
// begin at byte `at`. It may be called again for the same bytes, on the thread that writes.
struct TensorSource {
  TensorInfo info;
  std::function<Status(std::uint64_t at, std::span<std::byte> into)> read;
};

// The view's bytes, which must outlive the source.
TensorSource source_of(const TensorView& view);

// Bytes of a tensor of this type and shape; nothing when an extent is negative, when the bits do
// not fill whole bytes, or beyond 2^61.
std::optional<std::uint64_t> byte_count(const TensorInfo& info);

}  // namespace trainward::checkpoint
