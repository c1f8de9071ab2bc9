#include "checkpoint/pytorch/pickle/globals.hpp"

#include <algorithm>
#include <array>

namespace trainward::checkpoint::pytorch {
namespace {

constexpr Global call(std::string_view module, std::string_view name, int least, int most) {
  return {module, name, Role::value, {}, least, most};
}
constexpr Global storage(std::string_view name, DType type) {
  return {"torch", name, Role::storage, type};
}
constexpr Global dtype(std::string_view name, std::optional<DType> type) {
  return {"torch", name, Role::constant, type};
}
constexpr Global rebuild(std::string_view name, Role role) { return {"torch._utils", name, role}; }
constexpr Global unsupported(std::string_view module, std::string_view name) {
  return {module, name, Role::unsupported};
}

constexpr std::array table{
    Global{"collections", "OrderedDict", Role::ordered_dict},
    call("collections", "Counter", 0, 1),
    call("__builtin__", "set", 1, 1),
    call("builtins", "set", 1, 1),
    call("__builtin__", "bytearray", 0, 2),
    call("builtins", "bytearray", 0, 2),
    call("__builtin__", "complex", 2, 2),
    call("builtins", "complex", 2, 2),
    call("_codecs", "encode", 2, 2),
    call("torch", "Size", 1, 1),
    call("torch", "device", 1, 2),
    call("torch.serialization", "_get_layout", 1, 1),

    rebuild("_rebuild_tensor", Role::rebuild_tensor),
    rebuild("_rebuild_tensor_v2", Role::rebuild_tensor_v2),
    rebuild("_rebuild_tensor_v3", Role::rebuild_tensor_v3),
    rebuild("_rebuild_parameter", Role::rebuild_parameter),
    rebuild("_rebuild_parameter_with_state", Role::rebuild_with_state),
    Global{"torch.nn.parameter", "Parameter", Role::parameter},

    storage("FloatStorage", DType::f32),
    storage("DoubleStorage", DType::f64),
    storage("HalfStorage", DType::f16),
    storage("BFloat16Storage", DType::bf16),
    storage("LongStorage", DType::i64),
    storage("IntStorage", DType::i32),
    storage("ShortStorage", DType::i16),
    storage("CharStorage", DType::i8),
    storage("ByteStorage", DType::u8),
    storage("BoolStorage", DType::boolean),
    storage("ComplexFloatStorage", DType::c64),
    Global{"torch.storage", "UntypedStorage", Role::storage},
    Global{"torch", "UntypedStorage", Role::storage},

    dtype("float32", DType::f32),
    dtype("float64", DType::f64),
    dtype("float16", DType::f16),
    dtype("bfloat16", DType::bf16),
    dtype("int64", DType::i64),
    dtype("int32", DType::i32),
    dtype("int16", DType::i16),
    dtype("int8", DType::i8),
    dtype("uint8", DType::u8),
    dtype("uint16", DType::u16),
    dtype("uint32", DType::u32),
    dtype("uint64", DType::u64),
    dtype("bool", DType::boolean),
    dtype("complex64", DType::c64),
    dtype("float8_e4m3fn", DType::f8_e4m3),
    dtype("float8_e5m2", DType::f8_e5m2),
    dtype("float8_e4m3fnuz", DType::f8_e4m3fnuz),
    dtype("float8_e5m2fnuz", DType::f8_e5m2fnuz),
    dtype("float8_e8m0fnu", DType::f8_e8m0),
    dtype("complex32", {}),
    dtype("complex128", {}),

    unsupported("torch", "ComplexDoubleStorage"),
    unsupported("torch", "QInt8Storage"),
    unsupported("torch", "QUInt8Storage"),
    unsupported("torch", "QInt32Storage"),
    unsupported("torch", "QUInt4x2Storage"),
    unsupported("torch", "QUInt2x4Storage"),
    unsupported("torch", "Tensor"),
    unsupported("torch", "per_tensor_affine"),
    unsupported("torch", "per_channel_affine"),
    unsupported("torch._utils", "_rebuild_qtensor"),
    unsupported("torch._utils", "_rebuild_sparse_tensor"),
    unsupported("torch._utils", "_rebuild_meta_tensor_no_storage"),
    unsupported("torch._utils", "_rebuild_wrapper_subclass"),
    unsupported("torch._utils", "_rebuild_device_tensor_from_numpy"),
    unsupported("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"),
    unsupported("torch._tensor", "_rebuild_from_type_v2"),
};

}  // namespace

const Global* find_global(std::string_view module, std::string_view name) {
  const auto* const found = std::find_if(table.begin(), table.end(), [&](const Global& global) {
    return global.name == name && global.module == module;
  });
  return found == table.end() ? nullptr : found;
}

std::optional<TypeSpelling> spelling_of(DType type) {
  const auto first = [&](Role role) -> const Global* {
    const auto* const found = std::find_if(table.begin(), table.end(), [&](const Global& global) {
      return global.role == role && global.dtype == type;
    });
    return found == table.end() ? nullptr : found;
  };
  if (const Global* own = first(Role::storage)) return TypeSpelling{own, nullptr};
  const Global* named = first(Role::constant);
  if (named == nullptr) return std::nullopt;
  return TypeSpelling{find_global("torch.storage", "UntypedStorage"), named};
}

}  // namespace trainward::checkpoint::pytorch
