#include "supervisor/courier/record/record.hpp"

#include <sys/stat.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/store/connection.hpp"

namespace trainward::courier {
namespace {

json::value value_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return json::string(column.getString());
  return nullptr;
}

struct Table {
  std::string_view name;
  std::string_view order;
};
constexpr std::array<Table, 5> tables{{{"jobs", "name"},
                                       {"channels", "channel"},
                                       {"deliveries", "rowid desc"},
                                       {"uploads", "rowid desc"},
                                       {"tracked", "rowid desc"}}};

Status read_rows(store::Connection& db, const Table& table, json::array& rows) {
  bool there = false;
  auto asked = db.each(
      "select 1 from sqlite_schema where name = ?1 and type = 'table'",
      [&](const store::Row&) { there = true; }, std::string(table.name));
  if (!asked || !there) return asked;
  return db.each(fmt::format("select * from {} order by {} limit {}", table.name, table.order,
                             most_recorded_rows),
                 [&](const store::Row& row) {
                   json::object object;
                   for (int i = 0; i < row.statement().getColumnCount(); ++i) {
                     object[row.statement().getColumnName(i)] =
                         value_of(row.statement().getColumn(i));
                   }
                   rows.emplace_back(std::move(object));
                 });
}

// SQLite opens what it finds, and would wait for the other end of a pipe.
bool is_file(const std::filesystem::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<json::object> recorded(const std::filesystem::path& state_folder) {
  json::object document;
  for (const Table& table : tables) document[table.name] = json::array();
  const std::filesystem::path file = state_folder / journal_name;
  if (!is_file(file)) return document;
  for (const char* ending : {"-wal", "-shm"}) {
    const std::filesystem::path part = file.string() + ending;
    struct stat info {};
    if (::stat(part.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return document;
  }
  auto db = store::Connection::open(file, store::Connection::Mode::read_only);
  if (!db) return propagate(db);
  for (const Table& table : tables) {
    if (auto read = read_rows(**db, table, document[table.name].as_array()); !read) {
      return propagate(read);
    }
  }
  return document;
}

}  // namespace trainward::courier
