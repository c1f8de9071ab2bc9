#include "supervisor/record/outbox/record.hpp"

#include <sys/stat.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

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

Result<bool> has_table(store::Connection& db, std::string_view name) {
  bool there = false;
  auto asked = db.each(
      "select 1 from sqlite_schema where name = ?1 and type = 'table'",
      [&](const store::Row&) { there = true; }, std::string(name));
  if (!asked) return propagate(asked);
  return there;
}

Status read_rows(store::Connection& db, const Table& table, json::array& rows) {
  auto there = has_table(db, table.name);
  if (!there) return propagate(there);
  if (!*there) return {};
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

// Nothing where there is no journal, or none with that table.
Status read_from(const std::filesystem::path& state_folder, std::string_view table,
                 const std::function<Status(store::Connection&)>& read) {
  auto db = open_journal(state_folder / journal_name);
  if (!db) return propagate(db);
  if (*db == nullptr) return {};
  auto there = has_table(**db, table);
  if (!there) return propagate(there);
  return *there ? read(**db) : Status();
}

// SQLite opens what it finds, and would wait for the other end of a pipe.
bool is_file(const std::filesystem::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Result<std::unique_ptr<store::Connection>> open_journal(const std::filesystem::path& file) {
  if (!is_file(file)) return nullptr;
  for (const char* ending : {"-wal", "-shm"}) {
    const std::filesystem::path part = file.string() + ending;
    struct stat info {};
    if (::stat(part.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return nullptr;
  }
  return store::Connection::open(file, store::Connection::Mode::read_only);
}

Result<Counts> counted(const std::filesystem::path& state_folder, std::int64_t now_ms) {
  Counts counts;
  auto db = open_journal(state_folder / journal_name);
  if (!db) return propagate(db);
  if (*db == nullptr) return counts;
  auto has_channels = has_table(**db, "deliveries_gone");
  if (!has_channels) return propagate(has_channels);
  if (*has_channels) {
    // What may happen is there at 0 before it does, or its first time is not seen to have been one.
    auto read = (*db)->each(
        "select channel, state, sum(count) from "
        "(select channel, state, state != 'waiting' or due_ms <= ? as count from deliveries "
        "union all select channel, state, count from deliveries_gone "
        "union all select channel, state, 0 from channels, (select 'sent' as state "
        "union all select 'perhaps_twice' union all select 'failed')) group by 1, 2",
        [&](const store::Row& row) {
          counts.messages.push_back({row.text(0), row.text(1), row.integer(2)});
        },
        now_ms);
    if (!read) return propagate(read);
  }
  auto has_uploads = has_table(**db, "upload_memory");
  if (!has_uploads) return propagate(has_uploads);
  if (!*has_uploads) return counts;
  auto read = (*db)->each(
      "select u.program, u.target, "
      "(select value from upload_memory m where m.program = u.program and m.target = u.target "
      "and m.key = 'total.sent_bytes') + 0, max(case when u.state = 'done' then u.step end), "
      "(select value from upload_memory m where m.program = u.program and m.target = u.target "
      "and m.key = 'total.failures') + 0 from uploads u group by 1, 2",
      [&](const store::Row& row) {
        Counts::Uploads target{row.text(0), row.text(1), row.integer(2), {}, row.integer(4)};
        row.read(3, target.newest_step);
        counts.uploads.push_back(std::move(target));
      });
  if (!read) return propagate(read);
  return counts;
}

Result<std::vector<FailingJob>> failing_jobs(const std::filesystem::path& state_folder) {
  std::vector<FailingJob> jobs;
  auto read = read_from(state_folder, "jobs", [&](store::Connection& db) {
    return db.each("select name, since_ms, error from jobs where state = 'failing' order by name",
                   [&](const store::Row& row) {
                     jobs.push_back({row.text(0), row.integer(1), row.text(2)});
                   });
  });
  if (!read) return propagate(read);
  return jobs;
}

Result<std::vector<std::pair<std::string, std::int64_t>>> given_up_since(
    const std::filesystem::path& state_folder, std::int64_t since_ms) {
  std::vector<std::pair<std::string, std::int64_t>> channels;
  auto read = read_from(state_folder, "deliveries", [&](store::Connection& db) {
    return db.each(
        "select channel, count(*) from deliveries where state = 'failed' and at_ms >= ?1 "
        "group by channel",
        [&](const store::Row& row) { channels.emplace_back(row.text(0), row.integer(1)); },
        since_ms);
  });
  if (!read) return propagate(read);
  return channels;
}

Result<json::object> recorded(const std::filesystem::path& state_folder) {
  json::object document;
  for (const Table& table : tables) document[table.name] = json::array();
  auto db = open_journal(state_folder / journal_name);
  if (!db) return propagate(db);
  if (*db == nullptr) return document;
  for (const Table& table : tables) {
    if (auto read = read_rows(**db, table, document[table.name].as_array()); !read) {
      return propagate(read);
    }
  }
  return document;
}

}  // namespace trainward::courier
