#include "supervisor/record/uploads/uploads.hpp"

#include <algorithm>
#include <memory>

#include "supervisor/record/outbox/record.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::upload {
namespace {

// A checkpoint a target. `state`: waiting | sending | done | failed | stale | held.
constexpr const char* uploads_sql = R"SQL(
create table if not exists uploads (
  id               integer primary key autoincrement,
  program          text    not null,
  target           text    not null,
  name             text    not null,            -- as it is published
  step             integer not null,
  path             text    not null,            -- where it lies on this box
  state            text    not null,
  bytes            integer not null default 0,
  sent_bytes       integer not null default 0,  -- that have arrived
  bytes_per_second integer not null default 0,  -- of this try
  saved_ms         integer not null default 0,  -- when it was written
  began_ms         integer not null,
  ended_ms         integer not null default 0,  -- 0: it has not
  place            text    not null default '', -- where it is to be found
  error            text    not null default '',
  tries            integer not null default 0,  -- that failed since bytes last arrived
  next_ms          integer not null default 0,
  milestone        integer not null default 0,
  asked            integer not null default 0,  -- by somebody, so that the window does not count
  checked_ms       integer not null default 0,  -- when it was last compared at its place
  check_error      text    not null default '', -- what was wrong then
  unique (program, target, name, step)
) strict;
create index if not exists uploads_by_target on uploads (program, target, id);
)SQL";

constexpr const char* memory_sql = R"SQL(
create table if not exists upload_memory (
  program text not null,
  target  text not null,
  key     text not null,
  value   text not null,
  primary key (program, target, key)
) strict, without rowid;
)SQL";

// What people have asked for; each job does what has come since it last looked.
constexpr const char* requests_sql = R"SQL(
create table if not exists upload_requests (
  id      integer primary key autoincrement,
  program text    not null,  -- empty: every one
  target  text    not null,  -- empty: every one
  what    text    not null,  -- now | retry | verify
  at_ms   integer not null
) strict;
)SQL";

constexpr const char* view_sql = R"SQL(
create view if not exists v_uploads as
select program, target, name as checkpoint, step, state, bytes, sent_bytes, bytes_per_second,
       case when state = 'sending' and bytes_per_second > 0
            then (bytes - sent_bytes) / bytes_per_second end as seconds_left,
       strftime('%Y-%m-%dT%H:%M:%fZ', began_ms / 1000.0, 'unixepoch') as began,
       case when ended_ms > 0
            then strftime('%Y-%m-%dT%H:%M:%fZ', ended_ms / 1000.0, 'unixepoch') end as ended,
       place, error, tries,
       case when state in ('waiting', 'failed', 'held') and next_ms > 0
            then strftime('%Y-%m-%dT%H:%M:%fZ', next_ms / 1000.0, 'unixepoch') end as next_try,
       milestone = 1 as milestone,
       case when checked_ms > 0
            then strftime('%Y-%m-%dT%H:%M:%fZ', checked_ms / 1000.0, 'unixepoch') end as checked,
       check_error, checked_ms, id
from uploads;
)SQL";

constexpr const char* columns =
    "program, target, checkpoint, step, state, bytes, sent_bytes, bytes_per_second, seconds_left, "
    "began, ended, place, error, tries, next_try, milestone, checked, check_error, checked_ms";

using Opened = std::unique_ptr<store::Connection>;

// Nothing: no journal yet, or no uploads in it.
Result<Opened> open(const std::filesystem::path& file) {
  auto connection = courier::open_journal(file);
  if (!connection || *connection == nullptr) return connection;
  bool there = false;
  auto looked = (*connection)
                    ->each("select 1 from sqlite_schema where name = 'v_uploads'",
                           [&](const store::Row&) { there = true; });
  if (!looked) return propagate(looked);
  if (!there) return Opened();
  return std::move(*connection);
}

json::value nullable(const store::Row& row, int column, bool number) {
  if (row.is_null(column)) return nullptr;
  if (number) return row.integer(column);
  return json::value(row.text(column));
}

json::object object_of(const store::Row& row) {
  return {{"program", row.text(0)},
          {"target", row.text(1)},
          {"checkpoint", row.text(2)},
          {"step", row.integer(3)},
          {"state", row.text(4)},
          {"bytes", row.integer(5)},
          {"sent_bytes", row.integer(6)},
          {"bytes_per_second", row.integer(7)},
          {"seconds_left", nullable(row, 8, true)},
          {"began", row.text(9)},
          {"ended", nullable(row, 10, false)},
          {"place", row.text(11)},
          {"error", row.text(12)},
          {"tries", row.integer(13)},
          {"next_try", nullable(row, 14, false)},
          {"milestone", row.integer(15) != 0},
          {"checked", nullable(row, 16, false)},
          {"check_error", row.text(17)},
          {"checked_ms", row.integer(18)}};
}

}  // namespace

std::vector<std::string> upload_tables() {
  return {uploads_sql, memory_sql, requests_sql, view_sql};
}

std::vector<std::filesystem::path> held_checkpoints(const std::filesystem::path& courier_db,
                                                    const std::string& program,
                                                    const std::vector<std::string>& targets) {
  std::vector<std::filesystem::path> out;
  auto connection = open(courier_db);
  if (!connection || *connection == nullptr) return out;
  (void)(*connection)
      ->each(
          "select path, target from uploads where program = ? and state in ('sending', 'waiting', "
          "'held')",
          [&](const store::Row& row) {
            if (std::find(targets.begin(), targets.end(), row.text(1)) == targets.end()) return;
            out.emplace_back(row.text(0));
          },
          program);
  return out;
}

Result<json::array> uploads_json(const std::filesystem::path& courier_db,
                                 const std::string& program, int limit) {
  json::array out;
  auto connection = open(courier_db);
  if (!connection) return propagate(connection);
  if (*connection == nullptr) return out;
  auto read = (*connection)
                  ->each(
                      "select " + std::string(columns) +
                          " from v_uploads where ? = '' or program = ? order by id desc limit ?",
                      [&](const store::Row& row) { out.push_back(object_of(row)); }, program,
                      program, limit);
  if (!read) return propagate(read);
  return out;
}

Result<json::array> upload_standing_json(const std::filesystem::path& courier_db) {
  json::array out;
  auto connection = open(courier_db);
  if (!connection) return propagate(connection);
  if (*connection == nullptr) return out;
  auto read = (*connection)
                  ->each("select " + std::string(columns) +
                             " from v_uploads where id in (select max(id) from uploads where state "
                             "!= 'stale' group by program, target) order by program, target",
                         [&](const store::Row& row) { out.push_back(object_of(row)); });
  if (!read) return propagate(read);
  return out;
}

}  // namespace trainward::upload
