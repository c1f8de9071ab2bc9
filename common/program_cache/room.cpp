#include "common/program_cache/room.hpp"

#include "common/program_cache/cache_names.hpp"
#include "common/program_cache/folder_scan.hpp"

namespace trainward::program_cache {
namespace {

// False: it is held. It may have been used since the folder was read; then it is compiled
// again, which is no worse than a cache that was full a moment earlier.
Result<bool> remove_unless_held(const ProgramCache& cache, const std::string& key) {
  auto held = cache.try_lock(key);
  // A full disk may have no room for a lock file; a missing one is not held.
  std::error_code ignored;
  if (!held && std::filesystem::exists(file_of(cache.folder(), key, lock_suffix), ignored)) {
    return propagate(held);
  }
  if (held && !*held) return false;
  if (auto ok = cache.drop(key); !ok) return propagate(ok);
  return true;
}

}  // namespace

Result<PrunedPrograms> make_room(const ProgramCache& cache, const Room& room) {
  auto files = program_files(cache.folder());
  if (!files) return propagate(files);
  std::erase_if(*files, [&](const ProgramFile& file) { return file.key == room.keep; });
  PrunedPrograms done;
  for (const ProgramFile& file : *files) done.bytes_left += file.bytes;
  for (const ProgramFile& file : *files) {
    const bool old = file.used_ms < room.unused_since_ms;
    if (!old && done.bytes_left <= room.max_bytes) continue;
    const ProgramEntry entry{file.key, {}, file.bytes, 0, file.used_ms, {}};
    auto removed = remove_unless_held(cache, file.key);
    if (!removed) return propagate(removed);
    if (*removed) {
      done.bytes_left -= file.bytes;
      done.removed.push_back(entry);
    } else {
      done.in_use.push_back(entry);
    }
  }
  return done;
}

}  // namespace trainward::program_cache
