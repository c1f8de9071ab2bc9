#include "common/footprint.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>

namespace trainward {
namespace {

int collect(dl_phdr_info* info, std::size_t, void* context) {
  constexpr std::uintptr_t page = 4096;
  auto& ranges = *static_cast<std::vector<PageRange>*>(context);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t start = (info->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end =
        (info->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) & ~(page - 1);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
    ranges.push_back({reinterpret_cast<void*>(start), end - start});
  }
  return 0;
}

}  // namespace

void use_one_heap() { ::mallopt(M_ARENA_MAX, 1); }

std::vector<PageRange> mirrored_pages() {
  std::vector<PageRange> ranges;
  ::dl_iterate_phdr(collect, &ranges);
  return ranges;
}

void give_memory_back() {
  ::malloc_trim(0);
  for (const PageRange& range : mirrored_pages()) {
    ::madvise(range.start, range.bytes, MADV_DONTNEED);
  }
}

}  // namespace trainward
