#include "checkpoint/disk/aligned_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "common/base/text.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::uint64_t huge_page_bytes = 2U << 20U;
constexpr std::size_t populate_bytes = 32U << 20U;

}  // namespace

AlignedMemory& AlignedMemory::operator=(AlignedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

AlignedMemory::~AlignedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<AlignedMemory> AlignedMemory::allocate(std::uint64_t size) {
  if (size == 0) return AlignedMemory();
  const std::uint64_t rounded = round_to_pages(size);
  void* memory =
      ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return fail_errno(errno, fmt::format("reserve {} of memory", human_bytes(rounded)), {},
                      "free memory on this machine");
  }
  // A request, not a need: the kernel may have none to give.
  if (rounded >= huge_page_bytes) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return AlignedMemory({static_cast<std::byte*>(memory), rounded});
}

Status AlignedMemory::populate() {
  // In pieces: no other thread of the process can map memory while one is under way, which for all
  // of a large model's is a second.
  for (std::size_t at = 0; at < bytes_.size(); at += populate_bytes) {
    const auto piece = bytes_.subspan(at, std::min(populate_bytes, bytes_.size() - at));
    if (::madvise(piece.data(), piece.size(), MADV_POPULATE_WRITE) == 0) continue;
    if (errno != EINVAL) {
      return fail_errno(errno, fmt::format("get {} of memory", human_bytes(bytes_.size())), {},
                        "free memory on this machine");
    }
    // Kernels before 5.14.
    for (std::size_t page = 0; page < piece.size(); page += page_bytes) {
      *static_cast<volatile std::byte*>(&piece[page]) = std::byte{0};
    }
  }
  return {};
}

}  // namespace trainward::checkpoint
