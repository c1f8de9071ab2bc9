#include "hwprobe/stages/files.hpp"

#include <charconv>

#include "common/base/text.hpp"

namespace trainward::hwprobe {

std::optional<std::string> text_in(const Reading& reading) {
  if (!reading.error.empty()) return std::nullopt;
  const auto end = reading.value.find_last_not_of("\r\n");
  if (end == std::string::npos) return std::nullopt;
  return reading.value.substr(0, end + 1);
}

std::optional<std::int64_t> number_in(const Reading& reading) {
  const auto text = text_in(reading);
  if (!text) return std::nullopt;
  std::string_view digits = trim(*text);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::string> Files::text(std::string_view path) {
  return text_in(answer("file", path));
}

std::optional<std::int64_t> Files::number(std::string_view path) {
  return number_in(answer("file", path));
}

std::optional<std::string> Files::bytes(std::string_view path) {
  Reading reading = answer("bytes", path);
  if (!reading.error.empty()) return std::nullopt;
  return std::move(reading.value);
}

std::optional<std::vector<std::string>> Files::names(std::string_view path) {
  const Reading reading = answer("list", path);
  if (!reading.error.empty()) return std::nullopt;
  std::vector<std::string> names;
  std::string_view rest = reading.value;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (end > 0) names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

bool Files::wait(std::chrono::milliseconds time) {
  return answer("wait", std::to_string(time.count())).error.empty();
}

}  // namespace trainward::hwprobe
