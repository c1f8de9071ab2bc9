#include "common/base/percent.hpp"

#include <charconv>
#include <system_error>

#include "common/base/utf8.hpp"

namespace trainward {

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 2 || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    plain += static_cast<char>(value);
    i += 2;
  }
  if (!is_utf8(plain)) return std::nullopt;
  return plain;
}

}  // namespace trainward
