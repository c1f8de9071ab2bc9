// Query results as JSON: an object per row, keys are the column names. A real number that JSON
// cannot hold is null.
#pragma once

#include <optional>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

json::object object_of(const Row& row);

template <typename Number>
json::value or_null(const std::optional<Number>& number) {
  return number ? json::value(*number) : json::value();
}

template <typename... Args>
Result<json::array> rows_json(Connection& connection, std::string_view sql, const Args&... args) {
  json::array rows;
  auto read = connection.each(
      sql, [&](const Row& row) { rows.push_back(object_of(row)); }, args...);
  if (!read) return propagate(read);
  return rows;
}

// The first row, or an empty object.
template <typename... Args>
Result<json::object> row_json(Connection& connection, std::string_view sql, const Args&... args) {
  json::object first;
  auto read = connection.each(
      sql,
      [&](const Row& row) {
        if (first.empty()) first = object_of(row);
      },
      args...);
  if (!read) return propagate(read);
  return first;
}

}  // namespace trainward::store
