// How much memory a piece of work takes at its peak.
#pragma once

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

namespace trainward {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_can_be_measured = false;
#else
inline constexpr bool memory_can_be_measured = true;
#endif

// VmRSS, VmHWM of a process: KiB.
inline std::int64_t memory_of(const std::string& process, const std::string& field) {
  std::ifstream status("/proc/" + process + "/status");
  for (std::string word; status >> word;) {
    std::int64_t kib = 0;
    if (word == field + ":" && status >> kib) return kib;
  }
  return -1;
}

// KiB that `work` added at most to what this process has, in a child of it; -1: it failed, which is
// its to say by returning false.
inline std::int64_t peak_kib(const std::function<bool()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak is what there is now
    const std::int64_t before = memory_of("self", "VmHWM");
    const bool done = work();
    const std::int64_t peak = done ? memory_of("self", "VmHWM") - before : -1;
    (void)!::write(ends[1], &peak, sizeof peak);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::int64_t peak = -1;
  if (::read(ends[0], &peak, sizeof peak) != sizeof peak) peak = -1;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return peak;
}

}  // namespace trainward
