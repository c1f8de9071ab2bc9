// What a worker has done, counted by itself in a file of its own outside the attacked folder: the
// truth against which logs, journal and run database are held.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "common/os/file.hpp"

namespace trainward::chaos {

template <typename Number>
struct CountsOf {
  Number lines;       // written to stdout, numbered from 0
  Number step;        // newest whose heartbeat was sent
  Number exits_with;  // 1 + the exit code it chose; 0: none, something ended it
};
using Counts = CountsOf<std::int64_t>;
using LiveCounts = CountsOf<std::atomic<std::int64_t>>;
static_assert(sizeof(Counts) == sizeof(LiveCounts));

inline std::string counts_file(const std::string& book, const std::string& program,
                               std::int64_t attempt) {
  return book + "/" + program + "-" + std::to_string(attempt) + ".counts";
}

// The worker's side: mapped until it ends, so that nothing is lost with it.
inline LiveCounts* make_counts(const std::string& file) {
  auto fd = open_file(file, O_RDWR | O_CREAT, 0600);
  if (!fd || ::ftruncate(fd->get(), sizeof(LiveCounts)) != 0) return nullptr;
  void* memory =
      ::mmap(nullptr, sizeof(LiveCounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<LiveCounts*>(memory);
}

// Empty: the attempt's worker never ran.
inline std::optional<Counts> read_counts(const std::string& file) {
  auto bytes = read_file(file, sizeof(Counts));
  if (!bytes || bytes->size() != sizeof(Counts)) return std::nullopt;
  Counts counts{};
  std::memcpy(&counts, bytes->data(), sizeof counts);
  return counts;
}

}  // namespace trainward::chaos
