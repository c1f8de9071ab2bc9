#include "common/wire/log_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"

namespace trainward {
namespace {

struct Piece {
  Fd fd;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t base = 0;
};

struct IndexEntry {
  std::uint64_t inode = 0;
  std::int64_t base = 0;
};

constexpr std::size_t max_index_bytes = 4096;

std::optional<IndexEntry> entry_of(const Result<std::string>& text) {
  if (!text) return std::nullopt;
  IndexEntry entry;
  const char* end = text->data() + text->size();
  const auto inode = std::from_chars(text->data(), end, entry.inode);
  if (inode.ec != std::errc() || inode.ptr == end) return std::nullopt;
  if (std::from_chars(inode.ptr + 1, end, entry.base).ec != std::errc()) return std::nullopt;
  return entry;
}

// The files, oldest first, opened: what is open can be renamed or deleted without being lost.
Result<std::vector<Piece>> open_pieces(const std::filesystem::path& file) {
  std::vector<Piece> pieces;
  for (int number = 0;; ++number) {
    auto fd = open_regular(number == 0 ? file : rotated_log(file, number), O_RDONLY);
    if (!fd && number == 0) {
      std::error_code error;
      if (std::filesystem::exists(file, error)) return propagate(fd);
      return fail(ErrorKind::usage, "no log file", file.string(),
                  "the attempt has not started a worker yet, or there is no such attempt");
    }
    if (!fd) break;
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at the log", file.string());
    pieces.push_back({std::move(*fd), info.st_ino, info.st_size, 0});
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

void set_bases(std::vector<Piece>& pieces, const std::optional<IndexEntry>& known) {
  std::int64_t base = 0;
  std::int64_t shift = 0;
  for (Piece& piece : pieces) {
    piece.base = base;
    if (known && piece.inode == known->inode) shift = known->base - base;
    base += piece.size;
  }
  for (Piece& piece : pieces) piece.base += shift;
}

// A rotation between two opens shows as one file twice, or as a gap that cannot be seen; so the
// set is opened until the newest file is the same before and after.
Result<std::vector<Piece>> stable_pieces(const std::filesystem::path& file) {
  for (int attempt = 0;; ++attempt) {
    auto pieces = open_pieces(file);
    if (!pieces) return pieces;
    const auto known = entry_of(read_file(log_index(file), max_index_bytes));
    struct stat now {};
    const bool same = ::stat(file.c_str(), &now) == 0 && now.st_ino == pieces->back().inode;
    if (same || attempt == 100) {
      set_bases(*pieces, known);
      return pieces;
    }
  }
}

}  // namespace

std::filesystem::path rotated_log(const std::filesystem::path& file, int number) {
  return file.string() + "." + std::to_string(number);
}

std::filesystem::path log_index(const std::filesystem::path& file) {
  return file.string() + ".index";
}

std::string log_index_line(std::uint64_t inode, std::int64_t base) {
  return fmt::format("{:020} {:020}\n", inode, base);
}

Result<std::int64_t> read_log_index(const Folder& folder, const std::string& name,
                                    std::uint64_t inode) {
  const std::string index = log_index(name).string();
  const auto entry = entry_of(folder.read(index, max_index_bytes));
  if (!entry || entry->inode != inode) {
    return fail(ErrorKind::corrupt, "is not about this log", (folder.path() / index).string());
  }
  return entry->base;
}

Status clear_log(const std::filesystem::path& file) {
  std::error_code error;
  for (int number = 1; std::filesystem::remove(rotated_log(file, number), error); ++number) {
  }
  std::filesystem::remove(log_index(file), error);
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) return {};
  auto emptied = open_regular(file, O_WRONLY | O_TRUNC | O_NOFOLLOW);
  if (!emptied) return propagate(emptied);
  return {};
}

Result<LogRange> read_log(const std::filesystem::path& file, std::int64_t offset,
                          std::int64_t limit) {
  auto pieces = stable_pieces(file);
  if (!pieces) return propagate(pieces);
  LogRange range;
  range.first = pieces->front().base;
  range.end = pieces->back().base + pieces->back().size;
  if (offset < 0) offset += range.end;
  range.begin = std::clamp(offset, range.first, std::max(range.first, range.end));
  const std::int64_t until = std::min(range.end, range.begin + std::max<std::int64_t>(limit, 0));
  for (const Piece& piece : *pieces) {
    const std::int64_t from = std::max(piece.base, range.begin);
    const std::int64_t to = std::min(piece.base + piece.size, until);
    if (from >= to) continue;
    const std::size_t before = range.bytes.size();
    range.bytes.resize(before + static_cast<std::size_t>(to - from));
    const ssize_t got = ::pread(piece.fd.get(), range.bytes.data() + before,
                                range.bytes.size() - before, from - piece.base);
    if (got < 0) return fail_errno(errno, "read the log", file.string());
    range.bytes.resize(before + static_cast<std::size_t>(got));
    if (got < to - from) break;
  }
  return range;
}

}  // namespace trainward
