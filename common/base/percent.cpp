#include "common/base/percent.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

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

std::optional<std::map<std::string, std::string>> percent_decoded_fields(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = percent_decoded(pair.substr(0, equals));
    auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    fields[std::move(*name)] = std::move(*value);
  }
  return fields;
}

}  // namespace trainward
