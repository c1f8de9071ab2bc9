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

Status by_whole_elements(
    std::uint64_t size, std::uint64_t at, std::span<std::byte> into,
    const std::function<Status(std::uint64_t first, std::span<std::byte> whole)>& make) {
  std::vector<std::byte> whole;
  while (!into.empty()) {
    // A piece need not begin or end where an element does.
    const std::uint64_t skip = at % size;
    whole.resize(size * std::min((skip + into.size() + size - 1) / size, elements_at_once));
    if (auto ok = make(at / size, whole); !ok) return ok;
    const auto taken = std::min<std::uint64_t>(into.size(), whole.size() - skip);
    std::memcpy(into.data(), whole.data() + skip, taken);
    into = into.subspan(taken);
    at += taken;
  }
  return {};
}

TensorSource converted(TensorSource source, DType to) {
  const DType from = source.info.dtype;
  return converted(std::move(source), to,
                   [from, to](std::span<const std::byte> in, std::span<std::byte> out) -> Status {
                     convert_floats(from, in, to, out);
                     return {};
                   });
}

TensorSource converted(TensorSource source, DType to, Conversion convert) {
  if (source.info.dtype == to) return source;
  const std::uint64_t in_bytes = bits_of(source.info.dtype) / 8;
  const std::uint64_t out_bytes = bits_of(to) / 8;
  TensorInfo info = source.info;
  info.dtype = to;
  return {std::move(info),
          [in_bytes, out_bytes, convert = std::move(convert), read = std::move(source.read)](
              std::uint64_t at, std::span<std::byte> into) -> Status {
            std::vector<std::byte> in;
            return by_whole_elements(
                out_bytes, at, into,
                [&](std::uint64_t first, std::span<std::byte> whole) -> Status {
                  in.resize(whole.size() / out_bytes * in_bytes);
                  if (auto ok = read(first * in_bytes, in); !ok) return ok;
                  return convert(in, whole);
                });
          }};
}

}  // namespace trainward::checkpoint
