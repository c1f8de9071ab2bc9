#include "common/os/json_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "common/os/file.hpp"

namespace trainward {

Result<json::value> read_json_file(const std::filesystem::path& path, std::size_t max_bytes) {
  auto text = read_file(path, max_bytes);
  if (!text) return propagate(text);
  return parse_json(*text, path.string());
}

Status tell_json_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                      JsonListener& listener) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at", path.string());
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > max_bytes) {
    return fail(ErrorKind::corrupt, fmt::format("is longer than {} bytes", max_bytes),
                path.string());
  }
  return tell_json(fd->get(), 0, bytes, path, listener);
}

Status tell_json(int fd, std::uint64_t begin, std::uint64_t bytes,
                 const std::filesystem::path& path, JsonListener& listener) {
  constexpr std::uint64_t most_at_once = 64 * 1024;
  JsonEvents events(listener, path.string());
  std::vector<std::byte> piece(std::min(bytes, most_at_once));
  for (std::uint64_t at = 0; at < bytes;) {
    const auto wanted = std::span(piece).first(std::min(bytes - at, most_at_once));
    auto got = read_at(fd, wanted, begin + at, path);
    if (!got) return propagate(got);
    if (*got == 0) break;  // cut off meanwhile
    auto told = events.write({reinterpret_cast<const char*>(piece.data()), *got});
    if (!told) return told;
    at += *got;
  }
  return events.finish();
}

}  // namespace trainward
