#include "supervisor/record/store/rows/rows_json.hpp"

#include <cmath>

namespace trainward::store {

json::object object_of(const Row& row) {
  json::object object;
  SQLite::Statement& statement = row.statement();
  for (int i = 0; i < statement.getColumnCount(); ++i) {
    const SQLite::Column column = statement.getColumn(i);
    json::value value;
    if (column.isInteger()) {
      value = column.getInt64();
    } else if (column.isFloat()) {
      if (std::isfinite(column.getDouble())) value = column.getDouble();
    } else if (!column.isNull()) {
      value = column.getString();
    }
    object[column.getName()] = std::move(value);
  }
  return object;
}

}  // namespace trainward::store
