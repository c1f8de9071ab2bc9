// Keeping a process that waits for hours small: what of its memory can be had again at once.
#pragma once

#include <cstddef>
#include <vector>

namespace trainward {

// One heap for all threads: what one of them frees another can use. To be called before anything
// else in main().
void use_one_heap();

struct PageRange {
  void* start = nullptr;
  std::size_t bytes = 0;
};

// Code and constants of this program and its libraries: mapped from files and never written, so the
// kernel can bring a page again, within microseconds, when it is touched.
std::vector<PageRange> mirrored_pages();

// Gives the heap's free pages and the mirrored ones back.
void give_memory_back();

}  // namespace trainward
