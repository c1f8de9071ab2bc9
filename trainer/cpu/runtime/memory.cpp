#include "trainer/cpu/runtime/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "common/base/text.hpp"

namespace trainward::cpu {

// Aligned memory of the C library: only it takes an alignment and answers with null when there is
// no memory left. The owner is the unique_ptr.
// NOLINTBEGIN(cppcoreguidelines-owning-memory)
void Memory::Free::operator()(std::byte* data) const { std::free(data); }

Result<Memory> Memory::allocate(std::size_t bytes) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  const std::size_t unit = bytes >= large_page ? large_page : alignment;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  Memory memory;
  if (rounded == 0) return memory;
  void* data = std::aligned_alloc(unit, rounded);
  if (data == nullptr) {
    return fail(ErrorKind::transient,
                fmt::format("no memory for {} of training buffers", human_bytes(rounded)), {},
                "use a smaller batch, block or model");
  }
  // Advice only: without large pages everything works, slower.
  if (unit == large_page) (void)madvise(data, rounded, MADV_HUGEPAGE);
  // Pages that are given back are zero when they are used again, by the thread that uses them: a
  // large model starts without touching all of its memory first.
  if (unit != large_page || madvise(data, rounded, MADV_DONTNEED) != 0) {
    std::memset(data, 0, rounded);
  }
  memory.data_.reset(static_cast<std::byte*>(data));
  memory.size_ = rounded;
  return memory;
}

// NOLINTEND(cppcoreguidelines-owning-memory)

}  // namespace trainward::cpu
