#include "hwprobe/stages/loose_json.hpp"

#include <charconv>
#include <cmath>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward::hwprobe::loose {
namespace {

constexpr std::size_t max_text = 128;

bool says_nothing(std::string_view text) {
  return text.empty() || text == "N/A" || text == "[N/A]" || text == "None" || text == "null";
}

// The first of the names for which `read` has an answer.
template <typename T, typename Read>
std::optional<T> first(const json::object& in, Names names, Read read) {
  for (const std::string_view name : names) {
    const json::value* value = in.if_contains(json::string_view(name.data(), name.size()));
    if (value == nullptr) continue;
    if (std::optional<T> answer = read(*value)) return answer;
  }
  return std::nullopt;
}

}  // namespace

const json::object& object(const json::object& in, std::string_view key) {
  static const json::object empty;
  const json::value* value = in.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_object() ? value->get_object() : empty;
}

std::string tidy(std::string_view text) {
  text = trim(text);
  text = text.substr(0, max_text);
  return clean(text.substr(0, utf8_valid_prefix(text)));
}

std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  text = trim(text);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string text(const json::object& in, Names names) {
  return first<std::string>(in, names,
                            [](const json::value& value) -> std::optional<std::string> {
                              if (value.is_number()) return json::serialize(value);
                              if (!value.is_string()) return std::nullopt;
                              std::string out = tidy(view(value.get_string()));
                              if (says_nothing(out)) return std::nullopt;
                              return out;
                            })
      .value_or("");
}

std::optional<double> number(const json::object& in, Names names) {
  return first<double>(in, names, [](const json::value& value) -> std::optional<double> {
    if (value.is_string()) return leading_number(view(value.get_string()));
    if (!value.is_number()) return std::nullopt;
    const auto number = value.to_number<double>();
    if (!std::isfinite(number)) return std::nullopt;
    return number;
  });
}

std::optional<std::uint64_t> whole(const json::object& in, Names names) {
  return first<std::uint64_t>(in, names,
                              [](const json::value& value) -> std::optional<std::uint64_t> {
                                if (value.is_string())
                                  return whole_number(view(value.get_string()));
                                boost::system::error_code error;
                                const auto number = value.to_number<std::uint64_t>(error);
                                if (error) return std::nullopt;
                                return number;
                              });
}

std::optional<bool> flag(const json::object& in, Names names) {
  return first<bool>(in, names, [](const json::value& value) -> std::optional<bool> {
    if (value.is_bool()) return value.get_bool();
    if (!value.is_string()) return std::nullopt;
    const std::string_view text = trim(view(value.get_string()));
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
    return std::nullopt;
  });
}

}  // namespace trainward::hwprobe::loose
