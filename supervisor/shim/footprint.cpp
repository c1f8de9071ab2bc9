#include "supervisor/shim/footprint.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "common/footprint.hpp"

// Only in the static program (CMakeLists.txt): elsewhere most pages are shared libraries'.
#if defined(TRAINWARD_SMALL_SHIM) && defined(__x86_64__)
#define TRAINWARD_FORGETS_PAGES 1
#endif

namespace trainward::shim {
#ifdef TRAINWARD_FORGETS_PAGES
namespace {

constexpr std::uintptr_t page = 4096;

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
    const PageRange* ranges, std::size_t count, pollfd* watched, unsigned watched_count) {
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
  use_one_heap();
  ::mallopt(M_TRIM_THRESHOLD, 64 * 1024);
  ::mallopt(M_MMAP_THRESHOLD, 32 * 1024);
#ifdef TRAINWARD_FORGETS_PAGES
  // A mapping of its own: the kernel brings neighbouring pages of a mapping along otherwise.
  ::madvise(reinterpret_cast<void*>(&forget_and_poll), page, MADV_RANDOM);
#endif
}

int wait_small(pollfd* watched, unsigned count) {
#ifdef TRAINWARD_FORGETS_PAGES
  static const std::vector<PageRange> ranges = mirrored_pages();
  ::malloc_trim(0);
  const long result = forget_and_poll(ranges.data(), ranges.size(), watched, count);
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
#else
  return ::poll(watched, count, -1);
#endif
}

}  // namespace trainward::shim
