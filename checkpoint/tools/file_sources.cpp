#include "checkpoint/tools/file_sources.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "checkpoint/format/floats.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::uint64_t elements_at_once = 64U << 10U;

Status read_at(int fd, std::uint64_t at, std::span<std::byte> into,
               const std::filesystem::path& where) {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, fmt::format("read at byte {}", at), where.string());
    if (got == 0) {
      return fail(ErrorKind::corrupt,
                  fmt::format("ends at byte {}, {} bytes short", at, into.size()), where.string(),
                  "it was cut while it was being read: try again with a whole copy");
    }
    into = into.subspan(static_cast<std::size_t>(got));
    at += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

void append_sources(const OpenFile& file, const Header& header, const std::filesystem::path& where,
                    std::vector<TensorSource>& to) {
  const int fd = file.fd.get();
  for (const Slot& slot : header.slots) {
    to.push_back({slot.info, [fd, begin = header.data_offset + slot.begin, where](
                                 std::uint64_t at, std::span<std::byte> into) {
                    return read_at(fd, begin + at, into, where);
                  }});
  }
}

TensorSource converted(TensorSource source, DType to) {
  const DType from = source.info.dtype;
  if (from == to) return source;
  TensorInfo info = source.info;
  info.dtype = to;
  return {std::move(info),
          [from, to, read = std::move(source.read)](std::uint64_t at,
                                                    std::span<std::byte> into) -> Status {
            const std::uint64_t in_bytes = bits_of(from) / 8;
            const std::uint64_t out_bytes = bits_of(to) / 8;
            std::vector<std::byte> in;
            std::vector<std::byte> out;
            while (!into.empty()) {
              // A piece need not begin or end where an element does.
              const std::uint64_t first = at / out_bytes;
              const std::uint64_t skip = at % out_bytes;
              const std::uint64_t count =
                  std::min((skip + into.size() + out_bytes - 1) / out_bytes, elements_at_once);
              in.resize(count * in_bytes);
              out.resize(count * out_bytes);
              if (auto ok = read(first * in_bytes, in); !ok) return ok;
              convert_floats(from, in, to, out);
              const auto size = std::min<std::uint64_t>(into.size(), out.size() - skip);
              std::memcpy(into.data(), out.data() + skip, size);
              into = into.subspan(size);
              at += size;
            }
            return {};
          }};
}

}  // namespace trainward::checkpoint
