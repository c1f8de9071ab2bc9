#include "supervisor/upload/file_digest.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"

namespace trainward::upload {

Result<std::string> file_digest(int fd, std::int64_t size, const std::filesystem::path& where,
                                std::int64_t offset, const std::stop_token& stop) {
  std::vector<char> buffer(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, 1 << 20)));
  Sha256 hash;
  std::int64_t left = size;
  while (left > 0) {
    if (stop.stop_requested()) return fail(ErrorKind::transient, "stopped", where.string());
    const auto take = static_cast<std::size_t>(
        std::min<std::int64_t>(left, static_cast<std::int64_t>(buffer.size())));
    auto read = read_at(fd, std::as_writable_bytes(std::span(buffer).first(take)),
                        static_cast<std::uint64_t>(offset), where);
    if (!read) return propagate(read);
    if (*read < take) {
      return fail(ErrorKind::corrupt, "ends before all of it was read", where.string());
    }
    hash.update(std::string_view(buffer.data(), take));
    offset += static_cast<std::int64_t>(take);
    left -= static_cast<std::int64_t>(take);
  }
  return hash.finish();
}

}  // namespace trainward::upload
