// Compiled programs on disk, kept across attempts and shared by everything that runs on this host.
//
//   FOLDER/KEY.program                one compiled program (entry.hpp says the bytes)
//   FOLDER/KEY.program.tmp.N          being written; its writer is alive if locked, else swept
//   FOLDER/KEY.lock                   exists while a process compiles, reads or removes the program
//   FOLDER/PLUGIN.plugin              whether a plugin can load what it has compiled
//
// KEY and PLUGIN are 64 lower-case hexadecimal digits, else an error of kind usage: a key never
// becomes a path that leads elsewhere. What a key is made of is the caller's business.
//
// Promises. A program is there as a whole or not at all, whatever was killed or lost power when.
// find() gives back exactly what put() was given, or nothing: a checksum covers every byte, and no
// more memory is taken than the file has bytes. The folder holds at most `limit_bytes` of programs
// after a put(); the least recently used make room, except those that are locked.
//
// Failure. A cache is never needed: whatever goes wrong here, the caller compiles instead. On a
// folder that cannot be written to, find() still finds, lock() and put() fail.
//
// Threads. An object holds no more than a path and a number; any thread of any process may use its
// own or share one. lock() is what keeps two of them from compiling the same program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

// What people are shown of a program; nothing is decided by it. Each at most 1000 bytes, the rest
// is cut off.
struct ProgramInfo {
  std::string name;      // "block_forward"
  std::string platform;  // "tt", with its version where there is one
  std::string plugin;    // file name of the plugin, and the like

  friend bool operator==(const ProgramInfo&, const ProgramInfo&) = default;
};

struct ProgramEntry {
  std::string key;
  ProgramInfo info;         // empty when `problem` is not
  std::uint64_t bytes = 0;  // of the file
  std::int64_t made_ms = 0;
  std::int64_t used_ms = 0;  // when find() found it last, or when it was made
  std::string problem;       // why find() would drop it; empty: nothing wrong was seen
};

struct PluginFact {
  std::string key;
  bool loads = false;  // can load what it has compiled
  std::string about;   // for people: platform, version, file
};

// What prune() and clear() did.
struct PrunedPrograms {
  std::vector<ProgramEntry> removed;
  std::vector<ProgramEntry> in_use;  // would have been removed, but is locked
  std::uint64_t bytes_left = 0;
};

// Held by at most one thread of one process for a key. Move-only; unlocks when destroyed.
class ProgramLock {
 public:
  ProgramLock(ProgramLock&&) noexcept = default;
  ProgramLock& operator=(ProgramLock&& other) noexcept;
  ProgramLock(const ProgramLock&) = delete;
  ProgramLock& operator=(const ProgramLock&) = delete;
  ~ProgramLock();

 private:
  friend class ProgramCache;
  ProgramLock(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  void unlock();

  Fd fd_;
  std::filesystem::path path_;
};

class ProgramCache {
 public:
  static constexpr std::uint64_t default_limit_bytes = std::uint64_t{8} << 30U;
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

  // Makes the folder where it is missing and sweeps what killed processes left.
  static Result<ProgramCache> open(std::filesystem::path folder,
                                   std::uint64_t limit_bytes = default_limit_bytes);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_; }

  // Waits until the key is free. Hold it around find, compile and put: when two processes want the
  // same program, one compiles it and the other finds it.
  [[nodiscard]] Result<ProgramLock> lock(const std::string& key) const;
  // Empty while it is held elsewhere.
  [[nodiscard]] Result<std::optional<ProgramLock>> try_lock(const std::string& key) const;

  // The program's bytes, verified, and it counts as used now. Nothing: not found. A damaged one
  // is removed; `dropped` then says why, else it is left as it was. An error: it could not be read.
  Result<std::optional<std::string>> find(const std::string& key,
                                          std::string* dropped = nullptr) const;

  // Keeps a program, durably when this returns; one with the same key is replaced. Fails (disk
  // full, folder read-only, larger than the whole cache, everything else in use) without a trace.
  Status put(const std::string& key, std::string_view bytes, const ProgramInfo& info) const;

  // Removes a program that turned out to be of no use. One that is not there is no error.
  Status drop(const std::string& key) const;

  // Whether the plugin with this key (the caller's digest of platform, version and file) can load
  // what it has compiled; nothing: not known yet.
  [[nodiscard]] std::optional<bool> loads(const std::string& plugin_key) const;
  Status remember_loads(const std::string& plugin_key, bool loads,
                        std::string_view about = {}) const;

  // For trainwardctl. None of these counts as use. list() reads headers, verify() every byte.
  [[nodiscard]] Result<std::vector<ProgramEntry>> list() const;    // most recently used first
  [[nodiscard]] Result<std::vector<ProgramEntry>> verify() const;  // likewise
  [[nodiscard]] Result<std::vector<PluginFact>> plugins() const;   // by key
  // Removes what was last used before `unused_since_ms` (wall clock), then the least recently used
  // until at most `max_bytes` are left.
  [[nodiscard]] Result<PrunedPrograms> prune(std::uint64_t max_bytes,
                                             std::int64_t unused_since_ms = 0) const;
  // Removes every program and what is known of plugins.
  [[nodiscard]] Result<PrunedPrograms> clear() const;

 private:
  ProgramCache(std::filesystem::path folder, std::uint64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
};

}  // namespace trainward
