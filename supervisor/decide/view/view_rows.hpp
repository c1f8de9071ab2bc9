// Fields of documents that come from elsewhere: what is missing or mistyped is left out or shows as
// "-", never a failure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/json/json.hpp"

namespace trainward::views {

std::string or_dash(std::string text);
// "-" for what is not known.
std::string count_or_dash(const json::object& row, std::string_view key);

// A size in bytes; 0 if it is not a valid size.
std::uint64_t size_or(const json::object& object, std::string_view key);

// The row of that `name`; null if there is no such row.
const json::object* row_named(const json::array& rows, std::string_view name);

// The list of that name, or an empty one.
const json::array& list_in(const json::object& object, std::string_view key);

// Visits the objects in a list.
template <typename Visit>
void for_each_row(const json::array& rows, Visit visit) {
  for (const json::value& row : rows) {
    if (row.is_object()) visit(row.get_object());
  }
}
template <typename Visit>
void for_each_row(const json::object& object, std::string_view key, Visit visit) {
  for_each_row(list_in(object, key), visit);
}

}  // namespace trainward::views
