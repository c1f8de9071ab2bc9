// The head of a journal's line, read as the text that we wrote: for code that looks at many
// lines and needs a number of each.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainward::journal_line {

inline constexpr std::string_view offset = R"({"off":)";  // of a thinned file's lines, in front
inline constexpr std::string_view sequence = R"("seq":)";
inline constexpr std::string_view base = R"("type":"started","base":)";
inline constexpr std::size_t head_bytes = 256;

// The number behind `key` in the head.
inline std::optional<std::int64_t> number(std::string_view line, std::string_view key) {
  line = line.substr(0, head_bytes);
  const auto at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t found = 0;
  const char* begin = line.data() + at + key.size();
  if (std::from_chars(begin, line.data() + line.size(), found).ec != std::errc()) {
    return std::nullopt;
  }
  return found;
}

}  // namespace trainward::journal_line
