#include "hwprobe/tenstorrent/decode/versions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <span>

namespace trainward::hwprobe {
namespace {

constexpr int old_numbering = 80;  // majors from here on

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  Version version;
  version.count = 0;
  for (int& part : version.parts) {
    const auto dot = text.find('.');
    const std::string_view digits = text.substr(0, dot);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part);
    if (error != std::errc() || end != digits.data() + digits.size() || part < 0) {
      return std::nullopt;
    }
    ++version.count;
    if (dot == std::string_view::npos) return version;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;  // a fifth part
}

std::optional<Version> Version::of_bundle(std::uint32_t word) {
  if (word == 0) return std::nullopt;
  const auto byte = [&](unsigned shift) { return static_cast<int>((word >> shift) & 0xFF); };
  return Version{{byte(24), byte(16), byte(8), byte(0)}, 4};
}

std::optional<Version> Version::of_ethernet(std::uint32_t word) {
  if (word == 0) return std::nullopt;
  return Version{{static_cast<int>((word >> 16) & 0xFF), static_cast<int>((word >> 12) & 0xF),
                  static_cast<int>(word & 0xFFF), 0},
                 3};
}

std::string Version::text() const {
  return fmt::format("{}", fmt::join(std::span(parts).first(static_cast<std::size_t>(count)), "."));
}

bool Version::older_than(const Version& other) const {
  const bool old = parts[0] >= old_numbering;
  const bool other_old = other.parts[0] >= old_numbering;
  if (old != other_old) return old;
  return parts < other.parts;
}

}  // namespace trainward::hwprobe
