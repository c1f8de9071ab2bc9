#include "checkpoint/tensor.hpp"

#include <algorithm>
#include <array>

namespace trainward::checkpoint {
namespace {

struct Row {
  DType type;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array rows{
    Row{DType::boolean, "BOOL", 1},    Row{DType::u8, "U8", 1},
    Row{DType::i8, "I8", 1},           Row{DType::f8_e4m3, "F8_E4M3", 1},
    Row{DType::f8_e5m2, "F8_E5M2", 1}, Row{DType::u16, "U16", 2},
    Row{DType::i16, "I16", 2},         Row{DType::f16, "F16", 2},
    Row{DType::bf16, "BF16", 2},       Row{DType::u32, "U32", 4},
    Row{DType::i32, "I32", 4},         Row{DType::f32, "F32", 4},
    Row{DType::u64, "U64", 8},         Row{DType::i64, "I64", 8},
    Row{DType::f64, "F64", 8},
};

// The table is indexed by the enumerator, so its order must be the enum's.
constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].type) != i) return false;
  }
  return rows.size() == static_cast<std::size_t>(DType::f64) + 1;
}
static_assert(in_order());

}  // namespace

std::size_t size_of(DType type) { return rows[static_cast<std::size_t>(type)].bytes; }

std::string_view to_string(DType type) { return rows[static_cast<std::size_t>(type)].name; }

std::optional<DType> dtype_from(std::string_view text) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == text; });
  if (row == rows.end()) return std::nullopt;
  return row->type;
}

}  // namespace trainward::checkpoint
