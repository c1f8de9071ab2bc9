#include "checkpoint/huggingface/model/finite.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "checkpoint/format/floats.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

// An exponent of nothing but ones is infinity or no number. A piece at a time without a way out of
// the middle, so that the compiler takes several elements at once.
template <typename Word>
std::optional<std::size_t> first_with(std::span<const std::byte> bytes, Word exponent) {
  constexpr std::size_t piece = 4096;
  const std::size_t count = bytes.size() / sizeof(Word);
  const auto is_bad = [&](std::size_t i) {
    Word bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(Word), sizeof bits);
    return static_cast<Word>(bits & exponent) == exponent;
  };
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::size_t end = std::min(begin + piece, count);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) any |= is_bad(i);
    if (!any) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_bad(i)) return i;
    }
  }
  return std::nullopt;
}

// "[2,5]"
std::string place_in(const std::vector<std::int64_t>& shape, std::size_t element) {
  std::vector<std::size_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[axis]);
    place[axis] = element % size;
    element /= size;
  }
  return fmt::format("[{}]", fmt::join(place, ","));
}

}  // namespace

std::optional<std::size_t> first_not_finite(const TensorView& tensor) {
  switch (tensor.info.dtype) {
    case DType::f32:
      return first_with<std::uint32_t>(tensor.bytes, 0x7F80'0000);
    case DType::bf16:
      return first_with<std::uint16_t>(tensor.bytes, 0x7F80);
    case DType::f16:
      return first_with<std::uint16_t>(tensor.bytes, 0x7C00);
    default:
      return std::nullopt;
  }
}

Status check_finite(const std::vector<const TensorView*>& tensors, const std::string& where) {
  for (const TensorView* tensor : tensors) {
    const auto at = first_not_finite(*tensor);
    if (!at) continue;
    const TensorInfo& info = tensor->info;
    const double value =
        float_at(info.dtype, tensor->bytes.data() + *at * (bits_of(info.dtype) / 8));
    return fail(ErrorKind::usage,
                fmt::format("'{}' holds {} at {}", info.name, value, place_in(info.shape, *at)),
                where, "these weights are damaged: fetch the model again, or take another");
  }
  return {};
}

}  // namespace trainward::checkpoint::huggingface
