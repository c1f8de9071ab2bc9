#include "common/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/base/utf8.hpp"

namespace trainward {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

// U+0080 to U+009F: the eight-bit control characters. U+061C, U+200B to U+200F, U+202A to U+202E,
// U+2060 to U+2069: without width, or turning the text around. U+2028, U+2029: line ends. U+FEFF.
bool is_hidden(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return byte(0) == 0xC2 ? byte(1) < 0xA0 : character == "\u061C";
  if (character.size() != 3) return false;
  if (byte(0) == 0xE2 && byte(1) == 0x80) {
    return (byte(2) >= 0x8B && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
  }
  if (byte(0) == 0xE2 && byte(1) == 0x81) return byte(2) >= 0xA0 && byte(2) <= 0xA9;
  return character == "\uFEFF";
}

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(character.size());
    const char c = character.front();
    if (c == '\t' || c == '\n' || c == '\r') {
      result += ' ';
    } else if (length == 0 || (length == 1 && (c < ' ' || c == 0x7F)) || is_hidden(character)) {
      result += '?';
    } else {
      result += character;
    }
  }
  return result;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  const std::size_t longer = std::max(word.size(), best.size());
  return best_distance * 3 <= longer ? std::string(best) : std::string();
}

std::string human_duration(std::int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
  const std::int64_t s = ms / 1000;
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {} h", s / 86'400, s / 3600 % 24);
}

std::string clock_duration(std::int64_t ms) {
  const std::int64_t s = std::max<std::int64_t>(ms, 0) / 1000;
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  constexpr std::uint64_t mib = kib * 1024;
  constexpr std::uint64_t gib = mib * 1024;
  if (bytes >= gib) {
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / static_cast<double>(gib));
  }
  if (bytes >= mib) return fmt::format("{} MiB", bytes / mib);
  if (bytes >= kib) return fmt::format("{} KiB", bytes / kib);
  return fmt::format("{} B", bytes);
}

std::string number_text(double number) {
  const double size = std::abs(number);
  const bool plain = size == 0 || (size >= 0.001 && size < 1e6) || !std::isfinite(number);
  return plain ? fmt::format("{:.3f}", number) : fmt::format("{:.3g}", number);
}

std::string count(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace trainward
