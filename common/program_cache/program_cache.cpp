#include "common/program_cache/program_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/base/digest.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "common/program_cache/cache_names.hpp"
#include "common/program_cache/entry.hpp"
#include "common/program_cache/exclusive_file.hpp"
#include "common/program_cache/room.hpp"

namespace trainward {
namespace fs = std::filesystem;
namespace {

// Empty if the file is missing.
Result<std::optional<Fd>> open_program(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::nullopt;
  auto fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
  if (!fd) return propagate(fd);
  return std::optional<Fd>(std::move(*fd));
}

Result<std::uint64_t> size_of(int fd, std::uint64_t limit_bytes, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno(errno, "look at the program", path.string());
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::corrupt, "is not a file", path.string());
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > limit_bytes) {
    return fail(ErrorKind::corrupt,
                fmt::format("its {} bytes are more than the cache may hold", bytes), path.string());
  }
  return bytes;
}

Result<std::string> read_whole(int fd, const std::string& key, std::uint64_t limit_bytes,
                               const fs::path& path) {
  auto bytes = size_of(fd, limit_bytes, path);
  if (!bytes) return propagate(bytes);
  auto head = program_cache::read_head(fd, *bytes, key, path);
  if (!head) return propagate(head);
  return program_cache::read_program(fd, *head, path);
}

Status require_fit(std::uint64_t bytes, std::uint64_t limit_bytes, const fs::path& folder) {
  if (bytes <= limit_bytes) return {};
  return fail(ErrorKind::permanent,
              fmt::format("a program of {} bytes is more than the cache may hold ({} bytes)", bytes,
                          limit_bytes),
              folder.string(), "raise device_config.cache_limit");
}

}  // namespace

Result<ProgramCache> ProgramCache::open(fs::path folder, std::uint64_t limit_bytes) {
  if (auto ok = make_folders(folder); !ok) return propagate(ok);
  program_cache::sweep(folder);
  return ProgramCache(std::move(folder), limit_bytes);
}

Result<std::optional<std::string>> ProgramCache::find(const std::string& key,
                                                      std::string* dropped) const {
  if (auto ok = program_cache::require_key(key); !ok) return propagate(ok);
  const fs::path path = program_cache::file_of(folder_, key, program_cache::program_suffix);
  auto fd = open_program(path);
  Result<std::string> bytes;
  if (fd) {
    if (!*fd) return std::nullopt;
    bytes = read_whole((*fd)->get(), key, limit_bytes_, path);
  } else {
    bytes = propagate(fd);
  }
  if (bytes) {
    // Now it is the most recently used. Not on a folder that cannot be written to.
    ::futimens((*fd)->get(), nullptr);
    return std::move(*bytes);
  }
  if (bytes.error().kind != ErrorKind::corrupt) return propagate(bytes);
  if (dropped != nullptr) *dropped = bytes.error().what;
  // One that cannot be removed is replaced by the next put(), or found damaged again.
  (void)drop(key);
  return std::nullopt;
}

Status ProgramCache::put(const std::string& key, std::string_view bytes,
                         const ProgramInfo& info) const {
  if (auto ok = program_cache::require_key(key); !ok) return ok;
  const std::string head = program_cache::encode_head(key, info, now().wall.ms, bytes.size());
  const std::uint64_t total = head.size() + bytes.size() + program_cache::digest_digits;
  if (auto ok = require_fit(total, limit_bytes_, folder_); !ok) return ok;
  auto room = program_cache::make_room(*this, {limit_bytes_ - total, 0, key});
  if (!room) return propagate(room);
  if (room->bytes_left > limit_bytes_ - total) {
    return fail(ErrorKind::transient, "the cache is full of programs that are in use",
                folder_.string(), "raise device_config.cache_limit");
  }
  Sha256 hash;
  hash.update(head);
  hash.update(bytes);
  const std::string digest = hash.finish();
  const std::string name = key + std::string(program_cache::program_suffix);
  auto written = program_cache::write_whole_file(
      folder_, name, std::array<std::string_view, 3>{head, bytes, digest});
  if (!written) return written;
  // Others may have put theirs at the same time.
  (void)program_cache::make_room(*this, {limit_bytes_ - total, 0, key});
  return {};
}

Status ProgramCache::drop(const std::string& key) const {
  if (auto ok = program_cache::require_key(key); !ok) return ok;
  const fs::path path = program_cache::file_of(folder_, key, program_cache::program_suffix);
  fault_point("program_cache.dropping");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "remove the program", path.string());
  }
  return {};
}

}  // namespace trainward
