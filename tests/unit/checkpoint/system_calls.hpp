// The system calls of a save, seen and made to fail by a test.
//
// The test program defines the few libc functions that change the disk, in place of libc's own;
// while an Interception lives, each call is shown to its handler first, which may let it through,
// make it fail, or end the process. So the code under test needs no hooks of its own. What io_uring
// does is no library call: a queue that stands before the real one does the same for it. One
// Interception at a time; all calls made meanwhile share it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint::testing {

enum class Call { make_folder, create, reserve, write, resize, sync, rename, exchange };

struct Event {
  Call call;
  std::string path;
  std::string to;  // of a rename or exchange
};

class Interception {
 public:
  using Handler = std::function<int(const Event&)>;  // 0 or the errno to fail with
  using AfterRead = std::function<void(const std::string& path, std::span<char> bytes)>;

  explicit Interception(Handler handler, AfterRead after_read = {});
  Interception(const Interception&) = delete;
  Interception& operator=(const Interception&) = delete;
  ~Interception();

  Handler handler;
  AfterRead after_read;
  // Sees how many bytes a queue is to write at which place; returns how many of them it shall.
  std::function<std::uint32_t(const std::string& path, std::uint32_t bytes)> shorten;
  std::optional<std::uint64_t> free_bytes;  // what the disk claims to have
};

// Reads and writes in flight go through the interception too.
SaveOptions intercepted();

// What a power failure does to what was not fsynced, called at the instant of the crash: it cuts
// each file written in half, and takes each rename back.
void lose_unsynced_files();
void undo_unsynced_renames();

// The same with chance: each of those files keeps all its bytes, loses its end, or a block in the
// middle; and those renames have happened, or have not.
void lose_what_is_not_synced(std::mt19937_64& random);

}  // namespace trainward::checkpoint::testing
