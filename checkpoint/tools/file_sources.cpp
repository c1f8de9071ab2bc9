#include "checkpoint/tools/file_sources.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::uint64_t elements_at_once = 64U << 10U;

Status read_exactly(int fd, std::uint64_t at, std::span<std::byte> into,
                    const std::filesystem::path& where) {
  auto got = read_at(fd, into, at, where);
  if (!got) return propagate(got);
  if (*got == into.size()) return {};
  return fail(ErrorKind::corrupt,
              fmt::format("ends at byte {}, {} bytes short", at + *got, into.size() - *got),
              where.string(), "it was cut while it was being read: try again with a whole copy");
}

}  // namespace

void append_sources(const OpenFile& file, const Header& header, const std::filesystem::path& where,
                    std::vector<TensorSource>& to) {
  const int fd = file.fd.get();
  for (const Slot& slot : header.slots) {
    to.push_back({slot.info, [fd, begin = header.data_offset + slot.begin, where](
                                 std::uint64_t at, std::span<std::byte> into) {
                    return read_exactly(fd, begin + at, into, where);
                  }});
  }
}

void append_sources(const Verified& checkpoint, const std::vector<Verified::TensorFile>& section,
                    const std::filesystem::path& folder, std::vector<TensorSource>& to) {
  for (const Verified::TensorFile& file : section) {
    append_sources(checkpoint.files[file.file], file.header,
                   folder / checkpoint.manifest.files[file.file].name, to);
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
