#include "supervisor/decide/view/view_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainward::views {
namespace {

const json::value* value_in(const json::object& object, std::string_view key) {
  return object.if_contains(json::string_view(key.data(), key.size()));
}

}  // namespace

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string count_or_dash(const json::object& row, std::string_view key) {
  const auto number = get_int(row, key);
  return number ? fmt::format("{}", *number) : "-";
}

std::uint64_t size_or(const json::object& object, std::string_view key) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(int_or(object, key, 0), 0));
}

const json::object* row_named(const json::array& rows, std::string_view name) {
  for (const json::value& row : rows) {
    if (row.is_object() && string_or(row.get_object(), "name", "") == name) {
      return &row.get_object();
    }
  }
  return nullptr;
}

const json::array& list_in(const json::object& object, std::string_view key) {
  static const json::array empty;
  const json::value* value = value_in(object, key);
  return value != nullptr && value->is_array() ? value->get_array() : empty;
}

}  // namespace trainward::views
