#include "supervisor/record/store/schema.hpp"

#include <map>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "common/protocol/step_figures.hpp"
#include "supervisor/record/store/curve/step_pyramid.hpp"

namespace trainward::store {
namespace {

Result<std::int64_t> pragma(Connection& connection, const char* sql) {
  std::int64_t value = 0;
  auto read = connection.each(sql, [&](const Row& row) { value = row.integer(0); });
  if (!read) return propagate(read);
  return value;
}

using Views = std::map<std::string, std::string>;  // by their names

Result<Views> views_of(Connection& connection) {
  Views views;
  auto listed = connection.each("select name, sql from sqlite_schema where type = 'view'",
                                [&](const Row& row) { views.emplace(row.text(0), row.text(1)); });
  if (!listed) return propagate(listed);
  return views;
}

// Those that a new file gets: none was ever renamed.
Result<Views> own_views() {
  auto fresh = Connection::open(":memory:", Connection::Mode::read_write);
  if (!fresh) return propagate(fresh);
  for (const Migration& migration : migrations()) {
    if (auto made = (*fresh)->script(migration.tables); !made) return propagate(made);
  }
  if (auto made = (*fresh)->script(views_text()); !made) return propagate(made);
  return views_of(**fresh);
}

// As SQL writes a name.
std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

const std::string& views_text() {
  static const std::string made = [] {
    std::string text(views_template());
    std::string figures;
    for (const StepFigure& figure : step_figures) {
      const std::string column = fmt::format("s.{}", figure.name);
      if (text.find(column + ",") != std::string::npos) continue;
      figures += (figures.empty() ? "" : ", ") + column;
    }
    constexpr std::string_view place = "       {figures}\n";
    return text.replace(text.find(place), place.size(), "       " + figures + "\n");
  }();
  return made;
}

int newest_version() { return migrations().back().version; }

Status check_file(Connection& connection, bool writer) {
  auto id = pragma(connection, "pragma application_id");
  if (!id) return propagate(id);
  auto version = pragma(connection, "pragma user_version");
  if (!version) return propagate(version);
  auto tables = pragma(connection, "select count(*) from sqlite_schema");
  if (!tables) return propagate(tables);

  const bool empty = *id == 0 && *version == 0 && *tables == 0;
  if (empty && writer) return {};
  if (*id != application_id) {
    return fail(ErrorKind::permanent,
                empty ? "is an empty database" : "is a database of another program",
                connection.file().string(), "name another state folder, or move the file away");
  }
  if (*version > newest_version()) {
    return fail(ErrorKind::permanent,
                fmt::format("has schema version {}, this Trainward knows up to {}", *version,
                            newest_version()),
                connection.file().string(),
                "a newer Trainward wrote it: use that one, or name another state folder");
  }
  if (*version < newest_version() && !writer) {
    return fail(
        ErrorKind::permanent,
        fmt::format("has schema version {}, this Trainward reads {}", *version, newest_version()),
        connection.file().string(), "start trainwardd: it brings the file up to date");
  }
  return {};
}

Status check_own(Connection& connection) {
  auto own = own_views();
  if (!own) return propagate(own);
  std::string what;
  std::string remedy;
  auto looked = connection.each(
      "select type, name, tbl_name from sqlite_schema where type in ('trigger', 'view')",
      [&](const Row& row) {
        const std::string type = row.text(0);
        const std::string name = row.text(1);
        if (!what.empty() || (type == "view" && own->contains(name))) return;
        what = type == "trigger"
                   ? fmt::format("has a trigger that is not Trainward's: {} on {}", clean(name),
                                 clean(row.text(2)))
                   : fmt::format("has a view that is not Trainward's: {}", clean(name));
        remedy = fmt::format("drop it: sqlite3 {} 'drop {} {}'", connection.file().string(), type,
                             clean(sql_name(name)));
      });
  if (!looked || what.empty()) return looked;
  return fail(ErrorKind::permanent, what, connection.file().string(), remedy);
}

namespace {

// Version 8 has steps in buckets: what an older version has put is put into them.
Status build_pyramids(Connection& connection) {
  std::vector<std::string> programs;
  auto listed = connection.each("select name from programs",
                                [&](const Row& row) { programs.push_back(row.text(0)); });
  for (const std::string& program : programs) {
    if (listed) listed = StepPyramid(connection, program).build();
  }
  return listed;
}

Status migrate_tables(Connection& connection) {
  for (const Migration& migration : migrations()) {
    // The version is read under the write lock: of two daemons only one migrates.
    if (auto begun = connection.run("begin immediate"); !begun) return begun;
    auto apply = [&]() -> Status {
      auto version = pragma(connection, "pragma user_version");
      if (!version) return propagate(version);
      if (*version >= migration.version) return {};
      if (auto tables = connection.script(migration.tables); !tables) return tables;
      if (migration.version == 8) {
        if (auto built = build_pyramids(connection); !built) return built;
      }
      return connection.script(fmt::format("pragma application_id = {}; pragma user_version = {}",
                                           application_id, migration.version));
    };
    if (auto applied = apply(); !applied) {
      connection.roll_back();
      return applied;
    }
    if (auto committed = connection.run("commit"); !committed) {
      connection.roll_back();
      return committed;
    }
  }
  return {};
}

// A view whose text was damaged passes every check of the file, but fails when read.
Status make_views(Connection& connection) {
  auto own = own_views();
  if (!own) return propagate(own);
  auto found = views_of(connection);
  if (!found) return propagate(found);
  if (*found == *own) return {};
  if (auto begun = connection.run("begin immediate"); !begun) return begun;
  auto made = connection.script(views_text());
  if (made) made = connection.run("commit");
  if (!made) connection.roll_back();
  return made;
}

}  // namespace

Status migrate(Connection& connection) {
  if (auto tables = migrate_tables(connection); !tables) return tables;
  return make_views(connection);
}

}  // namespace trainward::store
