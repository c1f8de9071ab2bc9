#include "supervisor/evidence/foreign/checkpoints/parts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 10'000;
constexpr int deepest = 8;
constexpr std::size_t most_name_bytes = 4 * 1024 * 1024;  // of all of them together

bool look(const fs::path& path, struct stat& info, Parts& parts) {
  if (::lstat(path.c_str(), &info) != 0) return false;
  parts.modified_ns = std::max(parts.modified_ns, modified_ns(info));
  return true;
}

}  // namespace

std::int64_t modified_ns(const struct stat& info) {
  return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

Result<Parts> parts_of(const fs::path& folder) {
  Parts parts;
  struct stat info {};
  if (!look(folder, info, parts)) return fail_errno(errno, "look at", folder.string());
  parts.folders.push_back(folder);
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  std::size_t seen = 0;
  std::size_t name_bytes = 0;
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (++seen > most_entries) {
      return fail(ErrorKind::corrupt, fmt::format("holds more than {} entries", most_entries),
                  folder.string());
    }
    if (entries.depth() >= deepest) {
      return fail(ErrorKind::corrupt, fmt::format("has folders nested more than {} deep", deepest),
                  folder.string());
    }
    const fs::path& path = entries->path();
    name_bytes += path.native().size() - folder.native().size();
    if (name_bytes > most_name_bytes) {
      return fail(ErrorKind::corrupt,
                  fmt::format("has more than {} bytes of names", most_name_bytes), folder.string());
    }
    if (!look(path, info, parts)) continue;  // gone meanwhile
    if (S_ISDIR(info.st_mode)) {
      parts.folders.push_back(path);
      continue;
    }
    const bool link = S_ISLNK(info.st_mode);
    if (!link && !S_ISREG(info.st_mode)) {
      return fail(ErrorKind::corrupt,
                  fmt::format("holds '{}', which is neither a file nor a folder",
                              path.lexically_relative(folder).string()),
                  folder.string());
    }
    const std::uint64_t bytes = link ? 0 : static_cast<std::uint64_t>(info.st_size);
    parts.files.push_back({path.lexically_relative(folder).string(), bytes, link});
    parts.bytes += bytes;
  }
  if (error) return fail_errno(error.value(), "read", folder.string());
  std::sort(parts.files.begin(), parts.files.end(),
            [](const Part& a, const Part& b) { return a.name < b.name; });
  return parts;
}

bool says_temporary(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::string text = lower_case(name);
  for (const std::string_view word : {"tmp", "temp", "incomplete", "partial"}) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool begins = at == 0 || !letter(text[at - 1]);
      if (begins && (end == text.size() || !letter(text[end]))) return true;
    }
  }
  return false;
}

std::string series_of(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

}  // namespace trainward::foreign
