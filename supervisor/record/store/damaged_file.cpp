#include "supervisor/record/store/damaged_file.hpp"

#include <algorithm>
#include <cstdio>

#include "common/base/time.hpp"
#include "common/os/file.hpp"

namespace trainward::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".damaged-";
constexpr const char* unfit = ".unfit";
constexpr std::int64_t hour_ms = 3'600'000;

// As 20261121T180000Z.
std::string stamp_of(std::int64_t wall_ms) {
  std::string stamp = iso8601(wall_ms);
  stamp.erase(stamp.find('.'), 4);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return stamp;
}

}  // namespace

Result<fs::path> set_aside(const fs::path& file, std::int64_t now_ms) {
  const std::string aside = file.string() + std::string(ending) + stamp_of(now_ms);
  // What makes the next start do it again goes last: the file with its damage, or the mark.
  for (const char* part : {"-wal", "-shm", "-journal", "", unfit}) {
    const std::string from = file.string() + part;
    std::error_code error;
    fs::rename(from, aside + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail_errno(error.value(), "set the damaged database aside", from);
    }
  }
  if (auto synced = fsync_folder(file.parent_path()); !synced) return propagate(synced);
  return aside;
}

bool was_set_aside(const fs::path& file, std::int64_t since_ms) {
  const std::string prefix = file.filename().string() + std::string(ending);
  const std::string least = prefix + stamp_of(since_ms);
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name >= least) return true;
  }
  return false;
}

Status mark_unfit(const fs::path& file, const std::string& why, std::int64_t now_ms) {
  if (was_set_aside(file, now_ms - hour_ms)) {
    return fail(ErrorKind::permanent, "was set aside and recreated less than an hour ago",
                file.string(), "look at its disk and at who else writes into it");
  }
  return write_file_durably(file.string() + unfit, why, 0640);
}

std::optional<std::string> marked_unfit(const fs::path& file) {
  constexpr std::size_t longest = 64 * 1024;
  auto why = read_file(file.string() + unfit, longest);
  if (!why) return std::nullopt;
  return std::move(*why);
}

}  // namespace trainward::store
