#include <sys/mman.h>

#include <algorithm>

#include "checkpoint/pytorch/archive/archive_writer.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

constexpr std::size_t portion = 4U << 20U;

// The bytes may be those of a mapped file: what comes next is read while this part is written. A
// wrong guess costs nothing, and memory that is no file is left as it is.
void fetch_ahead(std::span<const std::byte> bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t aligned = (begin + page - 1) / page * page;
  if (bytes.size() < 2 * page) return;
  const std::size_t ahead = std::min(2 * portion, bytes.size() - (aligned - begin));
  ::madvise(const_cast<std::byte*>(bytes.data()) + (aligned - begin), ahead, MADV_WILLNEED);
}

}  // namespace

Portions::Portions(const std::vector<StorageBytes>& storages, const Progress& progress)
    : progress_(progress) {
  for (const StorageBytes& storage : storages) total_ += storage.bytes.size();
}

Status Portions::each(std::span<const std::byte> bytes,
                      const std::function<Status(std::span<const std::byte>)>& take) {
  fetch_ahead(bytes);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(portion, bytes.size()));
    fetch_ahead(bytes.subspan(part.size()));
    if (auto ok = take(part); !ok) return ok;
    bytes = bytes.subspan(part.size());
    done_ += part.size();
    if (!progress_) continue;
    if (auto ok = progress_(done_, total_); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::checkpoint::pytorch
