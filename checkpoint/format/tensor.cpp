#include "checkpoint/format/tensor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace trainward::checkpoint {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::size_t bits;
};

constexpr std::array rows{
    Row{DType::boolean, "BOOL", 8},
    Row{DType::f4, "F4", 4},
    Row{DType::f6_e2m3, "F6_E2M3", 6},
    Row{DType::f6_e3m2, "F6_E3M2", 6},
    Row{DType::u8, "U8", 8},
    Row{DType::i8, "I8", 8},
    Row{DType::f8_e5m2, "F8_E5M2", 8},
    Row{DType::f8_e4m3, "F8_E4M3", 8},
    Row{DType::f8_e8m0, "F8_E8M0", 8},
    Row{DType::f8_e4m3fnuz, "F8_E4M3FNUZ", 8},
    Row{DType::f8_e5m2fnuz, "F8_E5M2FNUZ", 8},
    Row{DType::i16, "I16", 16},
    Row{DType::u16, "U16", 16},
    Row{DType::f16, "F16", 16},
    Row{DType::bf16, "BF16", 16},
    Row{DType::i32, "I32", 32},
    Row{DType::u32, "U32", 32},
    Row{DType::f32, "F32", 32},
    Row{DType::c64, "C64", 64},
    Row{DType::f64, "F64", 64},
    Row{DType::i64, "I64", 64},
    Row{DType::u64, "U64", 64},
};

// The table is indexed by the enumerator, so its order must be the enum's.
constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].type) != i) return false;
  }
  return rows.size() == static_cast<std::size_t>(DType::u64) + 1;
}
static_assert(in_order());

}  // namespace

std::size_t bits_of(DType type) { return rows[static_cast<std::size_t>(type)].bits; }

std::string_view to_string(DType type) { return rows[static_cast<std::size_t>(type)].name; }

std::optional<DType> dtype_from(std::string_view text) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == text; });
  if (row == rows.end()) return std::nullopt;
  return row->type;
}

TensorSource source_of(const TensorView& view) {
  return {view.info, [bytes = view.bytes](std::uint64_t at, std::span<std::byte> into) -> Status {
            std::memcpy(into.data(), bytes.data() + at, into.size());
            return {};
          }};
}

std::optional<std::uint64_t> byte_count(const TensorInfo& info) {
  std::uint64_t bits = bits_of(info.dtype);
  for (const std::int64_t extent : info.shape) {
    if (extent < 0) return std::nullopt;
    if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(extent), &bits)) {
      return std::nullopt;
    }
  }
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

}  // namespace trainward::checkpoint
