#include "supervisor/courier/journal.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "common/base/time.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"

namespace trainward::courier {
namespace {

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

Status set_aside(const std::filesystem::path& file) {
  std::string stamp = iso8601(now().wall);  // as 20261121T180000Z
  stamp.erase(stamp.find('.'), 4);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  // The file itself last: until then the next start finds the damage again.
  for (const char* part : {"-wal", "-shm", "-journal", ""}) {
    const std::string from = file.string() + part;
    std::error_code error;
    std::filesystem::rename(from, file.string() + ".damaged-" + stamp + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return fail_errno(error.value(), "set the damaged journal aside", from);
    }
  }
  return fsync_folder(file.parent_path());
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
  for (const std::string& sql : tables) {
    if (auto made = db.script(sql); !made) return propagate(made);
  }
  return opened;
}

}  // namespace

Journal::Journal(std::unique_ptr<store::Connection> connection)
    : connection_(std::move(connection)) {}

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& file,
                                               const std::vector<std::string>& tables) {
  auto opened = open_whole(file, tables);
  if (!opened && opened.error().kind == ErrorKind::corrupt) {
    if (auto moved = set_aside(file); !moved) return propagate(moved);
    opened = open_whole(file, tables);
  }
  if (!opened) return propagate(opened);
  return std::unique_ptr<Journal>(new Journal(std::move(*opened)));
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
