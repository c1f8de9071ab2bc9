// Past the page cache or through it: a property of an open file.
#pragma once

#include <fcntl.h>

namespace trainward::checkpoint {

// Asks the kernel to go past the page cache on this descriptor. Not every file system can.
inline bool make_direct(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

inline void make_cached(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}

}  // namespace trainward::checkpoint
