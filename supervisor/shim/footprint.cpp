#include "supervisor/shim/footprint.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

// Only in the static program (CMakeLists.txt): elsewhere most pages are shared libraries'.
#if defined(TRAINWARD_SMALL_SHIM) && defined(__x86_64__)
#define TRAINWARD_FORGETS_PAGES 1
#endif

namespace trainward::shim {
#ifdef TRAINWARD_FORGETS_PAGES
namespace {

constexpr std::uintptr_t page = 4096;

struct Range {
  void* start = nullptr;
  std::size_t bytes = 0;
};

struct Ranges {
  std::array<Range, 8> list{};
  std::size_t count = 0;
};

// The parts of the program file that are mapped and never written: code and constants.
int collect(dl_phdr_info* info, std::size_t, void* context) {
  auto& ranges = *static_cast<Ranges*>(context);
  for (int i = 0; i < info->dlpi_phnum && ranges.count < ranges.list.size(); ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t start = (info->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end =
        (info->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) & ~(page - 1);
    ranges.list[ranges.count++] = {reinterpret_cast<void*>(start), end - start};
  }
  return 1;  // the first entry is the program itself
}

const Ranges& file_ranges() {
  static const Ranges ranges = [] {
    Ranges found;
    ::dl_iterate_phdr(collect, &found);
    return found;
  }();
  return ranges;
}

// System calls without a library function around them, which would be on another page.
[[gnu::always_inline]] inline long call(long number, long a, long b, long c, long d, long e) {
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

// Alone on its page, so that waking up for nothing else brings back nothing else.
[[gnu::noinline, gnu::aligned(4096), gnu::section(".text.wait_small")]] long forget_and_poll(
    const Range* ranges, std::size_t count, pollfd* watched, unsigned watched_count) {
  for (std::size_t i = 0; i < count; ++i) {
    call(SYS_madvise, reinterpret_cast<long>(ranges[i].start), static_cast<long>(ranges[i].bytes),
         MADV_DONTNEED, 0, 0);
  }
  return call(SYS_ppoll, reinterpret_cast<long>(watched), watched_count, 0, 0, 8);
}

// Ends the page of the function above.
[[gnu::noinline, gnu::used, gnu::aligned(4096), gnu::section(".text.wait_small_end")]] void
end_of_wait_page() {
  asm volatile("");
}

}  // namespace
#endif

void prepare_footprint() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, 64 * 1024);
  ::mallopt(M_MMAP_THRESHOLD, 32 * 1024);
#ifdef TRAINWARD_FORGETS_PAGES
  // A mapping of its own: the kernel brings neighbouring pages of a mapping along otherwise.
  ::madvise(reinterpret_cast<void*>(&forget_and_poll), page, MADV_RANDOM);
#endif
}

int wait_small(pollfd* watched, unsigned count) {
#ifdef TRAINWARD_FORGETS_PAGES
  const Ranges& ranges = file_ranges();
  ::malloc_trim(0);
  const long result = forget_and_poll(ranges.list.data(), ranges.count, watched, count);
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
#else
  return ::poll(watched, count, -1);
#endif
}

}  // namespace trainward::shim
