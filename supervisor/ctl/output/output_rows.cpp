#include "supervisor/ctl/output/output_rows.hpp"

#include <fmt/format.h>

#include "common/terminal/display_text.hpp"

namespace trainward::ctl {
namespace {

const json::value* value_in(const json::object& object, std::string_view key) {
  return object.if_contains(json::string_view(key.data(), key.size()));
}

}  // namespace

std::string plain(const json::object& object, std::string_view key) {
  constexpr std::size_t longest = 60;
  const json::value* value = value_in(object, key);
  if (value == nullptr || value->is_null()) return "-";
  const std::string text = value->is_string()   ? std::string(value->get_string())
                           : value->is_double() ? fmt::format("{:g}", value->get_double())
                                                : json::serialize(*value);
  return text.empty() ? "-" : shortened(text, longest);
}

}  // namespace trainward::ctl
