#include "common/os/processes/host_memory.hpp"

#include <algorithm>
#include <utility>

#include "common/os/processes/host_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t file_bytes = 64 * 1024;
// Limits in the exbibytes are the kernel's way to say "no limit".
constexpr std::int64_t no_limit = INT64_MAX / 2;

std::optional<std::int64_t> read_limit(const std::filesystem::path& file) {
  const auto limit = read_whole_number(file);  // "max" is no number
  return limit && *limit < no_limit ? limit : std::nullopt;
}

// What of the use goes away by itself: pages of files, but not those still to be written.
std::int64_t droppable(const std::filesystem::path& folder, std::string_view prefix) {
  const auto text = read_some(folder / "memory.stat", file_bytes);
  if (!text) return 0;
  const auto value = [&](std::string_view key) {
    return number_of_key(*text, std::string(prefix) + std::string(key)).value_or(0);
  };
  const std::int64_t files = add_up(value("active_file"), value("inactive_file"));
  // The two versions name these differently.
  const std::int64_t unwritten = prefix.empty()
                                     ? add_up(value("file_dirty"), value("file_writeback"))
                                     : add_up(value("dirty"), value("writeback"));
  return std::max<std::int64_t>(files - unwritten, 0);
}

std::int64_t rest_of(std::int64_t limit, std::int64_t used, std::int64_t dropped) {
  return std::max<std::int64_t>(limit - std::max<std::int64_t>(used - dropped, 0), 0);
}

std::optional<std::int64_t> rest_of_unified(const std::filesystem::path& folder) {
  auto limit = read_limit(folder / "memory.max");
  if (const auto high = read_limit(folder / "memory.high")) {
    limit = std::min(limit.value_or(*high), *high);
  }
  const auto used = read_whole_number(folder / "memory.current");
  if (!limit || !used) return std::nullopt;
  return rest_of(*limit, *used, droppable(folder, ""));
}

std::optional<std::int64_t> rest_of_version_1(const std::filesystem::path& folder) {
  const auto limit = read_limit(folder / "memory.limit_in_bytes");
  const auto used = read_whole_number(folder / "memory.usage_in_bytes");
  if (!limit || !used) return std::nullopt;
  return rest_of(*limit, *used, droppable(folder, "total_"));
}

std::string called(const std::filesystem::path& folder, const Cgroup& cgroup) {
  const std::string way = folder.lexically_relative(cgroup.top).string();
  return "cgroup /" + (way == "." ? std::string() : way);
}

}  // namespace

std::optional<AvailableMemory> available_memory(const std::filesystem::path& root,
                                                const Cgroups& cgroups) {
  std::optional<AvailableMemory> least;
  const auto consider = [&](std::optional<std::int64_t> bytes, std::string bound) {
    if (bytes && (!least || *bytes < least->bytes)) least = {*bytes, std::move(bound)};
  };
  if (const auto text = read_some(below(root, "/proc/meminfo"), file_bytes)) {
    const auto kib = number_of_key(*text, "MemAvailable");
    if (kib) consider(std::min(*kib, INT64_MAX / 1024) * 1024, "the machine");
  }
  for (const auto& folder : chain_of(cgroups.unified)) {
    consider(rest_of_unified(folder), called(folder, cgroups.unified));
  }
  for (const auto& folder : chain_of(cgroups.memory)) {
    consider(rest_of_version_1(folder), called(folder, cgroups.memory));
    // Without hierarchy the ancestors' limits do not hold for this one.
    if (read_whole_number(folder / "memory.use_hierarchy") == 0) break;
  }
  return least;
}

}  // namespace trainward::host
