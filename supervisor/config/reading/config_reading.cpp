#include "supervisor/config/reading/config_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace trainward::config {
namespace {

// What stands behind "~/", "$HOME/" or "${HOME}/"; nothing when the path begins in another way.
std::optional<std::string_view> below_home(std::string_view path) {
  constexpr std::array<std::string_view, 3> spellings{"~", "$HOME", "${HOME}"};
  for (const std::string_view spelling : spellings) {
    if (!path.starts_with(spelling)) continue;
    const std::string_view rest = path.substr(spelling.size());
    if (rest.empty()) return rest;
    if (rest.front() == '/') {
      return rest.substr(std::min(rest.find_first_not_of('/'), rest.size()));
    }
  }
  return std::nullopt;
}

}  // namespace

bool consists_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [more](char c) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return plain || more.find(c) != std::string_view::npos;
  });
}

std::optional<int> minute_of_day(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.size() - colon != 3 || colon == 0 || colon > 2) {
    return std::nullopt;
  }
  const std::string digits =
      std::string(text.substr(0, colon)) + std::string(text.substr(colon + 1));
  if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })) {
    return std::nullopt;
  }
  const int hour = std::stoi(std::string(text.substr(0, colon)));
  const int minute = std::stoi(std::string(text.substr(colon + 1)));
  if (minute > 59 || hour > 24 || (hour == 24 && minute > 0)) return std::nullopt;
  return hour * 60 + minute;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets any
  return value == nullptr ? "" : value;
}

std::filesystem::path Folders::resolve(const yaml::Node& node) const {
  const auto rest = home.empty() ? std::nullopt : below_home(node.text);
  if (!rest) return ((node.mark.source == 0 ? file : working) / node.text).lexically_normal();
  auto path = (home / *rest).lexically_normal();
  if (notes != nullptr) {
    notes->push_back({node.mark, fmt::format("'{}' is {}", node.text, path.string())});
  }
  return path;
}

std::optional<std::filesystem::path> read_described_host(yaml::MapReader& map,
                                                         const Folders& folders) {
  const yaml::Node* value = map.take("host");
  if (value == nullptr) return std::nullopt;
  if (value->kind != yaml::Node::Kind::scalar || value->text.empty()) {
    map.report("host", *value, "expected a file, found " + describe(*value));
    return std::nullopt;
  }
  auto host = folders.resolve(*value);
  std::error_code error;
  if (!std::filesystem::is_regular_file(host, error)) {
    map.report("host", *value, "no such file: " + host.string());
  }
  return host;
}

}  // namespace trainward::config
