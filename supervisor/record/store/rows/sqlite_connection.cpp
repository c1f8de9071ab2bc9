#include "supervisor/record/store/rows/sqlite_connection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <vector>

namespace trainward::store {
namespace {

constexpr int busy_timeout_ms = 5000;
constexpr const char* made_anew =
    "trainwardd sets the file aside and makes a new one from the journals; workers go on";

Error translate(const SQLite::Exception& exception, const std::filesystem::path& file) {
  const std::string where = file.string();
  // Shorter than its own index says, which no wait mends: its write-ahead log was removed while
  // somebody had it open.
  const bool cut = exception.getExtendedErrorCode() == SQLITE_IOERR_SHORT_READ;
  switch (cut ? SQLITE_CORRUPT : exception.getErrorCode()) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::transient, "another process keeps the run database locked", where,
              "it is tried again; look for a second daemon or an open sqlite3 transaction"};
    case SQLITE_FULL:
      return {ErrorKind::transient, "no space left to write the run database", where,
              "free space on its disk; writing is tried again"};
    case SQLITE_IOERR:
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return {ErrorKind::transient,
              fmt::format("the run database could not be reached: {}", exception.what()), where,
              "look at the disk; the operation is tried again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {
          ErrorKind::corrupt, fmt::format("the run database is damaged: {}", exception.what()),
          where,
          "start trainwardd again: it sets the file aside and makes a new one from the journals"};
    // What is in it contradicts what is written, or its schema is not ours: no wait mends that.
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_MISUSE:
      return {ErrorKind::corrupt, fmt::format("the run database refused: {}", exception.what()),
              where, made_anew};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorKind::permanent, "the run database may not be written", where,
              "check the owner and mode of the file and of its folder"};
    case SQLITE_CANTOPEN:
      return {ErrorKind::permanent, "the run database cannot be opened", where,
              "check the path, and the owner and mode of the file and of its folder"};
    default:
      return {ErrorKind::permanent, fmt::format("the run database failed: {}", exception.what()),
              where, ""};
  }
}

// After the highest number no number is left for the next row, which SQLite calls a full disk.
bool numbers_used_up(SQLite::Database& database) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> tables;
  for (SQLite::Statement row(database, "select name, seq from sqlite_sequence");
       row.executeStep();) {
    if (row.getColumn(1).getInt64() == highest) return true;
    tables.push_back(row.getColumn(0).getString());
  }
  return std::ranges::any_of(tables, [&](const std::string& table) {
    const auto newest = fmt::format("select max(rowid) from \"{}\"", table);
    return database.execAndGet(newest).getInt64() == highest;
  });
}

// A reader without write permission on the folder cannot make the -shm file that WAL needs. When
// nothing waits in the -wal the main file alone is the whole truth and may be read as it lies.
bool lies_still(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file.string() + "-wal", error);
  return error ? error == std::errc::no_such_file_or_directory : size == 0;
}

std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

std::int64_t Row::integer(int column) const { return statement_.getColumn(column).getInt64(); }

double Row::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : statement_.getColumn(column).getDouble();
}

std::string Row::text(int column) const { return statement_.getColumn(column).getString(); }

std::optional<int> Row::optional_int(int column) const {
  if (is_null(column)) return std::nullopt;
  return statement_.getColumn(column).getInt();
}

// Not only tidiness: a statement left in mid-result keeps its read transaction open.
Connection::Resetter::~Resetter() { statement_.tryReset(); }

Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& file, Mode mode) {
  const auto attempt = [&](const std::string& name, int flags) -> std::unique_ptr<Connection> {
    SQLite::Database database(name, flags, busy_timeout_ms);
    // Opening reads nothing yet; the first read is what fails on a file that cannot be used.
    database.execAndGet("select count(*) from sqlite_schema");
    return std::unique_ptr<Connection>(new Connection(file, std::move(database)));
  };
  const int flags = mode == Mode::read_write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                             : SQLite::OPEN_READONLY;
  try {
    return attempt(file.string(), flags);
  } catch (const SQLite::Exception& exception) {
    const bool no_shm =
        exception.getErrorCode() == SQLITE_CANTOPEN || exception.getErrorCode() == SQLITE_READONLY;
    if (mode == Mode::read_write || !no_shm || !lies_still(file)) {
      return tl::unexpected<Error>(translate(exception, file));
    }
  }
  try {
    return attempt(immutable_uri(file), flags | SQLite::OPEN_URI);
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected<Error>(translate(exception, file));
  }
}

Status Connection::script(const std::string& sql) {
  return guarded([&] { database_.exec(sql); });
}

void Connection::on_commit(std::function<void()> committing) {
  auto next = std::make_unique<std::function<void()>>(std::move(committing));
  const auto call = [](void* hook) {
    (*static_cast<std::function<void()>*>(hook))();
    return 0;  // anything else would roll back
  };
  sqlite3_commit_hook(database_.getHandle(), call, next.get());
  committing_ = std::move(next);
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(database_.getHandle()) == 0;
}

std::int64_t Connection::changes() const { return sqlite3_total_changes64(database_.getHandle()); }

void Connection::roll_back() noexcept {
  if (in_transaction()) database_.tryExec("rollback");
}

SQLite::Statement& Connection::prepared(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  std::string text(sql);
  SQLite::Statement statement(database_, text);
  return statements_.emplace(std::move(text), std::move(statement)).first->second;
}

Status Connection::guarded(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected<Error>(translated(exception));
  }
}

Error Connection::translated(const SQLite::Exception& exception) {
  try {
    if (exception.getErrorCode() == SQLITE_FULL && numbers_used_up(database_)) {
      return {ErrorKind::corrupt,
              "the run database is damaged: a row has the highest number there is", file_.string(),
              made_anew};
    }
  } catch (const SQLite::Exception&) {
    // Without a table of numbers, or unreadable: what was said first is what is known.
  }
  return translate(exception, file_);
}

}  // namespace trainward::store
