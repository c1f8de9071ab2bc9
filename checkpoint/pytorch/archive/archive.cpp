#include "checkpoint/pytorch/archive/archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "checkpoint/pytorch/archive/legacy_magic.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

bool begins_with(const ByteSource& source, std::uint64_t at, std::string_view magic) {
  std::array<std::byte, 64> bytes{};
  const std::span wanted = std::span(bytes).first(std::min(magic.size(), bytes.size()));
  return at + wanted.size() <= source.size() && source.read(at, wanted).has_value() &&
         std::memcmp(bytes.data(), magic.data(), wanted.size()) == 0;
}

}  // namespace

std::string_view to_string(Layout layout) { return layout == Layout::legacy ? "legacy" : "zip"; }

std::optional<Layout> layout_from(std::string_view text) {
  if (text == "legacy") return Layout::legacy;
  if (text == "zip") return Layout::zip;
  return std::nullopt;
}

Result<Archive> open_archive(SharedSource source, const Limits& limits) {
  if (begins_with(*source, 0, "PK\x03\x04")) return open_zip(std::move(source), limits);
  if (begins_with(*source, 0, legacy_magic)) return open_legacy(std::move(source), limits);
  if (begins_with(*source, 257, "ustar")) {
    return corrupt_at(*source, 0, "is the tar layout of PyTorch before 0.1.10",
                      "load and save it again with a newer PyTorch");
  }
  if (begins_with(*source, 0, "\x80")) {
    return corrupt_at(*source, 0, "is a bare pickle, not a file of torch.save",
                      "save it with torch.save");
  }
  return corrupt_at(*source, 0, "is not a torch.save file: neither its zip nor its legacy layout",
                    "name the .pt or .pth file itself");
}

Status check_crc(const ByteSource& source, std::uint64_t begin, std::uint64_t bytes,
                 std::uint32_t expected, std::string_view what) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes, 1U << 20U));
  uLong crc = ::crc32(0, nullptr, 0);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::span part = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes - done)));
    if (auto ok = source.read(begin + done, part); !ok) return ok;
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    done += part.size();
  }
  if (crc == expected) return {};
  return corrupt_at(source, begin,
                    fmt::format("the {} bytes of {} have CRC-32 {:08x} instead of {:08x}", bytes,
                                what, crc, expected),
                    "the file is damaged; get another copy");
}

}  // namespace trainward::checkpoint::pytorch
