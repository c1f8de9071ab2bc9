#include "checkpoint/huggingface/adapter/merged_source.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/huggingface/model/lora.hpp"
#include "checkpoint/huggingface/writing/checked_source.hpp"
#include "checkpoint/tools/file_sources.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

constexpr std::size_t bytes_a_task = 128U << 10U;
constexpr std::size_t block = 16;  // columns at once: their sums stay in registers

// out[j] += scale * sum over k of b[k] * a[k * stride + j]
void add_row(std::span<float> out, const float* a, std::size_t stride, std::span<const float> b,
             float scale) {
  std::size_t j = 0;
  for (; j + block <= out.size(); j += block) {
    std::array<float, block> sums{};
    for (std::size_t k = 0; k < b.size(); ++k) {
      const float* row = a + k * stride + j;
      for (std::size_t i = 0; i < block; ++i) sums[i] += b[k] * row[i];
    }
    for (std::size_t i = 0; i < block; ++i) out[j + i] += scale * sums[i];
  }
  for (; j < out.size(); ++j) {
    float sum = 0;
    for (std::size_t k = 0; k < b.size(); ++k) sum += b[k] * a[k * stride + j];
    out[j] += scale * sum;
  }
}

class Merged {
 public:
  Merged(const TensorView& base, const LoraPair& pair, double scale, DType to)
      : base_(base), pair_(pair), scale_(static_cast<float>(scale)), to_(to) {}

  // Elements from `first` on, as many as `into` has room for.
  Status elements(std::uint64_t first, std::span<std::byte> into) const;
  Status bytes(std::uint64_t at, std::span<std::byte> into) const {
    return by_whole_elements(
        bits_of(to_) / 8, at, into,
        [this](std::uint64_t first, std::span<std::byte> whole) { return elements(first, whole); });
  }

 private:
  const TensorView& base_;
  const LoraPair& pair_;
  float scale_;
  DType to_;
};

Status Merged::elements(std::uint64_t first, std::span<std::byte> into) const {
  const std::size_t count = into.size() * 8 / bits_of(to_);
  const std::size_t from_bytes = bits_of(base_.info.dtype) / 8;
  std::vector<float> values(count);
  convert_floats(base_.info.dtype, base_.bytes.subspan(first * from_bytes, count * from_bytes),
                 DType::f32, std::as_writable_bytes(std::span(values)));
  const auto columns = static_cast<std::size_t>(pair_.in);
  const auto rank = static_cast<std::size_t>(pair_.r);
  for (std::size_t done = 0; done < count;) {
    const std::size_t row = (first + done) / columns;
    const std::size_t column = (first + done) % columns;
    const std::size_t size = std::min(columns - column, count - done);
    add_row(std::span(values).subspan(done, size), pair_.a.data() + column, columns,
            std::span(pair_.b).subspan(row * rank, rank), scale_);
    done += size;
  }
  return round_elements(DType::f32, std::as_bytes(std::span(values)), to_, into, base_.info.name);
}

// Tasks are taken in turn; of several that fail the first one taken counts.
Status in_parallel(std::size_t tasks, const std::function<Status(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = tasks;
  Status result;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks; i = next++) {
      auto done = task(i);
      if (done) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (i < failed) {
        failed = i;
        result = std::move(done);
      }
      next = tasks;
    }
  };
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min<std::size_t>(tasks, std::thread::hardware_concurrency());
  try {
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // As many as the machine lets us have.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return result;
}

std::vector<float> read_floats(const TensorSource& source, Status& status) {
  const std::size_t bytes = byte_count(source.info).value_or(0);
  std::vector<std::byte> raw(bytes);
  status = source.read(0, raw);
  std::vector<float> values(bytes * 8 / bits_of(source.info.dtype));
  convert_floats(source.info.dtype, raw, DType::f32, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace

Result<LoraPairs> read_pairs(const std::vector<TensorSource>& tensors) {
  LoraPairs pairs;
  for (const TensorSource& tensor : tensors) {
    LoraPair& pair = pairs[std::string(*module_of(tensor.info.name))];
    Status status;
    if (tensor.info.name.ends_with(suffix_a)) {
      pair.a = read_floats(tensor, status);
      pair.r = tensor.info.shape[0];
      pair.in = tensor.info.shape[1];
    } else {
      pair.b = read_floats(tensor, status);
      pair.out = tensor.info.shape[0];
    }
    if (!status) return propagate(status);
  }
  return pairs;
}

Result<TensorSource> merged(const TensorView& base, const LoraPair& pair, double scale, DType to) {
  if (!is_float(base.info.dtype) || base.info.shape != std::vector{pair.out, pair.in}) {
    return fail(
        ErrorKind::usage,
        fmt::format("tensor '{}' is {}[{}], the adapter is for [{},{}]", base.info.name,
                    to_string(base.info.dtype), fmt::join(base.info.shape, ","), pair.out, pair.in),
        {}, "name the base model that the adapter was trained on");
  }
  TensorInfo info = base.info;
  info.dtype = to;
  return TensorSource{std::move(info),
                      [merged = Merged(base, pair, scale, to)](
                          std::uint64_t at, std::span<std::byte> into) -> Status {
                        const std::size_t tasks = (into.size() + bytes_a_task - 1) / bytes_a_task;
                        return in_parallel(tasks, [&](std::size_t i) {
                          const std::size_t begin = i * bytes_a_task;
                          return merged.bytes(
                              at + begin,
                              into.subspan(begin, std::min(bytes_a_task, into.size() - begin)));
                        });
                      }};
}

}  // namespace trainward::checkpoint::huggingface
