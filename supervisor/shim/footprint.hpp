// Keeping a process that waits for hours small.
//
// A shim is linked statically, so that starting it dirties few pages. Its own code is then the
// largest part of what it holds in memory, although waiting needs one page of it. The kernel can
// read the rest again from the file when something happens, which takes microseconds.
#pragma once

#include <poll.h>

namespace trainward::shim {

// To be called before anything else in main().
void prepare_footprint();

// poll() without a time limit, for a quiet process: gives back the heap's free pages and the pages
// that merely mirror the program file, then waits.
int wait_small(pollfd* watched, unsigned count);

}  // namespace trainward::shim
