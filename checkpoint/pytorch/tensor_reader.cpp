#include "checkpoint/pytorch/tensor_reader.hpp"

#include <algorithm>
#include <cstring>

#include "checkpoint/pytorch/pickle/pickle_rebuild.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::uint64_t largest_window = 64ULL << 20U;

std::uint64_t item_of(const Tensor& tensor) { return bits_of(tensor.dtype) / 8; }

// The tail of the axes that lies in one piece: how many axes are before it, and its elements.
struct Run {
  std::size_t outer_axes = 0;
  std::uint64_t elements = 1;
};

Run run_of(const Tensor& tensor) {
  Run run{tensor.shape.size(), 1};
  while (run.outer_axes > 0) {
    const std::size_t axis = run.outer_axes - 1;
    const auto stride = static_cast<std::uint64_t>(tensor.stride[axis]);
    if (tensor.shape[axis] != 1 && stride != run.elements) break;
    run.elements *= static_cast<std::uint64_t>(tensor.shape[axis]);
    run.outer_axes = axis;
  }
  return run;
}

// Where run number `index` begins, in elements from the tensor's first.
std::uint64_t begin_of(const Tensor& tensor, const Run& run, std::uint64_t index) {
  std::uint64_t begin = 0;
  for (std::size_t axis = run.outer_axes; axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(tensor.shape[axis]);
    begin += index % extent * static_cast<std::uint64_t>(tensor.stride[axis]);
    index /= extent;
  }
  return begin;
}

}  // namespace

Status TensorReader::check(const Tensor& tensor) {
  if (checked_[tensor.storage]) return {};
  const Place& place = archive_.places[tensor.storage];
  if (place.crc) {
    auto ok = check_crc(*archive_.source, place.begin, place.bytes, *place.crc,
                        fmt::format("storage '{}'", archive_.tree.storages[tensor.storage].key));
    if (!ok) return ok;
  }
  checked_[tensor.storage] = true;
  return {};
}

Status TensorReader::read(const Tensor& tensor, std::uint64_t at, std::span<std::byte> into) {
  const auto bytes = byte_count({{}, tensor.dtype, tensor.shape});
  if (!bytes || at > *bytes || into.size() > *bytes - at) {
    return fail(ErrorKind::usage, "more bytes are asked for than the tensor has",
                archive_.source->where());
  }
  if (into.empty()) return {};
  if (auto ok = check(tensor); !ok) return ok;
  if (run_of(tensor).outer_axes > 0) return gather(tensor, at, into);
  return archive_.source->read(archive_.places[tensor.storage].begin + tensor.begin + at, into);
}

Status TensorReader::gather(const Tensor& tensor, std::uint64_t at, std::span<std::byte> into) {
  const Run run = run_of(tensor);
  const std::uint64_t item = item_of(tensor);
  const std::uint64_t run_bytes = run.elements * item;
  const std::uint64_t base = archive_.places[tensor.storage].begin + tensor.begin;
  while (!into.empty()) {
    const std::uint64_t inside = at % run_bytes;
    const std::span part = into.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), run_bytes - inside)));
    const std::uint64_t begin = base + begin_of(tensor, run, at / run_bytes) * item + inside;
    if (auto ok = fetch(tensor, begin, part); !ok) return ok;
    into = into.subspan(part.size());
    at += part.size();
  }
  return {};
}

Status TensorReader::fetch(const Tensor& tensor, std::uint64_t begin, std::span<std::byte> into) {
  const auto held = [&] {
    return begin >= window_begin_ && begin - window_begin_ <= window_.size() &&
           into.size() <= window_.size() - (begin - window_begin_);
  };
  if (!held()) {
    const std::uint64_t span = span_of(tensor).value_or(UINT64_MAX);
    if (span > largest_window) return archive_.source->read(begin, into);
    window_.resize(static_cast<std::size_t>(span));
    window_begin_ = archive_.places[tensor.storage].begin + tensor.begin;
    if (auto ok = archive_.source->read(window_begin_, window_); !ok) {
      window_.clear();
      return ok;
    }
  }
  std::memcpy(into.data(), window_.data() + (begin - window_begin_), into.size());
  return {};
}

}  // namespace trainward::checkpoint::pytorch
