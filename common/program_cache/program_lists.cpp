// What trainwardctl shows of the cache, and does to it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/os/file.hpp"
#include "common/program_cache/cache_names.hpp"
#include "common/program_cache/entry.hpp"
#include "common/program_cache/folder_scan.hpp"
#include "common/program_cache/program_cache.hpp"
#include "common/program_cache/room.hpp"

namespace trainward {
namespace {

enum class Depth { heads, bytes };

ProgramEntry look_at(const std::filesystem::path& folder, const program_cache::ProgramFile& file,
                     Depth depth) {
  ProgramEntry entry{file.key, {}, file.bytes, 0, file.used_ms, {}};
  const auto path = program_cache::file_of(folder, file.key, program_cache::program_suffix);
  auto looked = [&]() -> Status {
    auto fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
    if (!fd) return propagate(fd);
    auto head = program_cache::read_head(fd->get(), file.bytes, file.key, path);
    if (!head) return propagate(head);
    entry.info = head->info;
    entry.made_ms = head->made_ms;
    return depth == Depth::heads ? Status() : program_cache::check_program(fd->get(), *head, path);
  }();
  if (!looked) entry.problem = looked.error().what;
  return entry;
}

Result<std::vector<ProgramEntry>> look_at_all(const std::filesystem::path& folder, Depth depth) {
  auto files = program_cache::program_files(folder);
  if (!files) return propagate(files);
  std::vector<ProgramEntry> entries;
  entries.reserve(files->size());
  for (auto file = files->rbegin(); file != files->rend(); ++file) {
    entries.push_back(look_at(folder, *file, depth));
  }
  return entries;
}

// Names for what went, which only their heads knew.
void name_them(const std::vector<ProgramEntry>& known, std::vector<ProgramEntry>& entries) {
  for (ProgramEntry& entry : entries) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const ProgramEntry& candidate) {
      return candidate.key == entry.key;
    });
    if (same != known.end()) entry = *same;
  }
}

}  // namespace

Result<std::vector<ProgramEntry>> ProgramCache::list() const {
  return look_at_all(folder_, Depth::heads);
}

Result<std::vector<ProgramEntry>> ProgramCache::verify() const {
  return look_at_all(folder_, Depth::bytes);
}

Result<PrunedPrograms> ProgramCache::prune(std::uint64_t max_bytes,
                                           std::int64_t unused_since_ms) const {
  auto known = list();
  if (!known) return propagate(known);
  auto done = program_cache::make_room(*this, {max_bytes, unused_since_ms, {}});
  if (!done) return done;
  name_them(*known, done->removed);
  name_them(*known, done->in_use);
  return done;
}

Result<PrunedPrograms> ProgramCache::clear() const {
  auto facts = plugins();
  if (!facts) return propagate(facts);
  for (const PluginFact& fact : *facts) {
    const auto path = program_cache::file_of(folder_, fact.key, program_cache::plugin_suffix);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return fail_errno(errno, "remove what is known of a plugin", path.string());
    }
  }
  return prune(0);
}

}  // namespace trainward
