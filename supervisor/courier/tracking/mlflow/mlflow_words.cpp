#include "supervisor/courier/tracking/mlflow/mlflow_words.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "common/base/utf8.hpp"

namespace trainward::tracking {
namespace {

constexpr std::size_t longest_key = 250;
constexpr std::size_t longest_tag = 4500;

}  // namespace

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(utf8_valid_prefix(std::string_view(text).substr(0, most - 3)));
  return text + "...";
}

std::string key_of(std::string_view name) {
  std::string key(name.substr(0, longest_key));
  std::replace_if(
      key.begin(), key.end(),
      [](unsigned char c) {
        return c >= 0x80 ||
               (std::isalnum(c) == 0 &&
                std::string_view("_-./ ").find(static_cast<char>(c)) == std::string_view::npos);
      },
      '_');
  return key;
}

json::object tag(std::string_view key, std::string value) {
  return {{"key", key}, {"value", shortened(valid_utf8(std::move(value)), longest_tag)}};
}

}  // namespace trainward::tracking
