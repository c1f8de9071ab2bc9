#include "checkpoint/huggingface/writing/checked_source.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/tools/file_sources.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

bool holds_infinity(DType type, std::span<const std::byte> bytes) {
  const std::uint16_t infinity = type == DType::f16 ? 0x7C00 : 0x7F80;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    if ((bits & 0x7FFFU) == infinity) return true;
  }
  return false;
}

}  // namespace

Status round_elements(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out,
                      const std::string& tensor) {
  convert_floats(from, in, to, out);
  const bool narrower = to == DType::f16 || to == DType::bf16;
  if (from == to || !narrower || !holds_infinity(to, out)) return {};
  const std::size_t in_bytes = bits_of(from) / 8;
  const std::size_t out_bytes = bits_of(to) / 8;
  for (std::size_t i = 0; i < in.size() / in_bytes; ++i) {
    const double before = float_at(from, in.data() + i * in_bytes);
    if (!std::isfinite(before) || std::isfinite(float_at(to, out.data() + i * out_bytes))) continue;
    return fail(
        ErrorKind::usage,
        fmt::format("tensor '{}' holds {:g}, too large for {}", tensor, before, to_string(to)), {},
        "choose another type: --dtype bf16 or --dtype f32");
  }
  return {};
}

TensorSource first_rows(TensorSource source, std::int64_t rows) {
  source.info.shape.front() = rows;
  return source;
}

TensorSource rounded(TensorSource source, DType to) {
  const DType from = source.info.dtype;
  const std::string name = source.info.name;
  return converted(std::move(source), to,
                   [from, to, name](std::span<const std::byte> in, std::span<std::byte> out) {
                     return round_elements(from, in, to, out, name);
                   });
}

}  // namespace trainward::checkpoint::huggingface
