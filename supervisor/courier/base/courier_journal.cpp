#include "supervisor/courier/base/courier_journal.hpp"

#include <fcntl.h>

#include <cstdint>
#include <string>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "supervisor/record/store/damaged_file.hpp"

namespace trainward::courier {
namespace {

// What a crash of before the damage may have cost concerns no longer than this.
constexpr std::int64_t day_ms = 86'400'000;

// SQLite opens what it finds, and would wait for the other end of a pipe; the file it made itself
// would be readable by whom the umask lets.
Status prepare_files(const std::filesystem::path& file) {
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    const std::filesystem::path part = file.string() + ending;
    if (!std::filesystem::exists(std::filesystem::symlink_status(part))) continue;
    if (auto opened = open_regular(part, O_RDONLY); !opened) return propagate(opened);
  }
  auto opened = open_regular(file, O_RDWR | O_CREAT, 0640);
  if (!opened) return propagate(opened);
  return {};
}

// When the journal was made, and after what: with its tables, or not at all.
Status make_tables(store::Connection& db, const std::filesystem::path& file,
                   const std::vector<std::string>& tables) {
  if (auto begun = db.run("begin immediate"); !begun) return begun;
  std::int64_t there = 0;
  auto made = db.each("select count(*) from sqlite_schema",
                      [&](const store::Row& row) { there = row.integer(0); });
  if (made) {
    made = db.script(
        "create table if not exists made (at_ms integer not null, after_damage integer not null) "
        "strict");
  }
  if (made && there == 0) {
    const std::int64_t now_ms = now().wall.ms;
    made = db.run("insert into made (at_ms, after_damage) values (?1, ?2)", now_ms,
                  store::was_set_aside(file, now_ms - day_ms));
  }
  for (const std::string& sql : tables) {
    if (made) made = db.script(sql);
  }
  if (made) made = db.run("commit");
  if (!made) db.roll_back();
  return made;
}

Result<std::unique_ptr<store::Connection>> open_whole(const std::filesystem::path& file,
                                                      const std::vector<std::string>& tables) {
  if (auto ready = prepare_files(file); !ready) return propagate(ready);
  auto opened = store::Connection::open(file, store::Connection::Mode::read_write);
  if (!opened) return propagate(opened);
  store::Connection& db = **opened;
  std::string finding;
  auto checked =
      db.each("pragma quick_check(1)", [&](const store::Row& row) { finding = row.text(0); });
  if (!checked) return propagate(checked);
  if (finding != "ok") {
    return fail(ErrorKind::corrupt, "the courier's journal is damaged", file.string());
  }
  auto set = db.script(
      "pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 4194304");
  if (!set) return propagate(set);
  if (auto made = make_tables(db, file, tables); !made) return propagate(made);
  return opened;
}

}  // namespace

Journal::Journal(std::unique_ptr<store::Connection> connection, std::int64_t made_after_damage_ms)
    : connection_(std::move(connection)), made_after_damage_ms_(made_after_damage_ms) {}

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& file,
                                               const std::vector<std::string>& tables) {
  auto opened = open_whole(file, tables);
  if (!opened && opened.error().kind == ErrorKind::corrupt) {
    if (auto moved = store::set_aside(file, now().wall.ms); !moved) return propagate(moved);
    opened = open_whole(file, tables);
  }
  if (!opened) return propagate(opened);
  std::int64_t made_ms = 0;
  auto read = (*opened)->each("select at_ms from made where after_damage",
                              [&](const store::Row& row) { made_ms = row.integer(0); });
  if (!read) return propagate(read);
  return std::unique_ptr<Journal>(new Journal(std::move(*opened), made_ms));
}

Status Journal::transact(const std::function<Status(store::Connection&)>& write) {
  const std::lock_guard lock(mutex_);
  store::Connection& db = *connection_;
  if (auto begun = db.run("begin immediate"); !begun) return begun;
  auto written = write(db);
  if (written) {
    fault_point("courier.before_commit");
    written = db.run("commit");
    fault_point("courier.after_commit");
  }
  if (!written) db.roll_back();
  return written;
}

Status Journal::read(const std::function<Status(store::Connection&)>& look) {
  const std::lock_guard lock(mutex_);
  return look(*connection_);
}

}  // namespace trainward::courier
