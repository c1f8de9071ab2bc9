#include "supervisor/record/store/store.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <charconv>

#include "common/os/file.hpp"
#include "supervisor/record/store/schema.hpp"
#include "supervisor/record/store/store_impl.hpp"

namespace trainward::store {
namespace {

// SQLite would make the file with the umask's mode; making it first fixes the mode, and -wal and
// -shm inherit it.
Status make_file(const std::filesystem::path& file) {
  if (std::filesystem::exists(std::filesystem::symlink_status(file))) return {};
  if (auto made = make_folders(file.parent_path().empty() ? "." : file.parent_path()); !made) {
    return made;
  }
  auto fd = open_regular(file, O_RDWR | O_CREAT, 0640);
  if (!fd) return propagate(fd);
  return {};
}

// SQLite opens what it finds, and would wait for the other end of a pipe.
Status check_files(const std::filesystem::path& file) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    const std::filesystem::path part = file.string() + ending;
    struct stat info {};
    if (::stat(part.c_str(), &info) != 0 || S_ISREG(info.st_mode)) continue;
    auto opened = open_regular(part, O_RDONLY);
    if (opened) continue;
    opened.error().kind = ErrorKind::corrupt;
    opened.error().hint =
        "start trainwardd again: it sets the file aside and makes a new one from the journals";
    return propagate(opened);
  }
  return {};
}

// "Page 5: unable to get the page. error code=7": there was no memory for it, or the disk did not
// read it just now. It may be as sound as any.
bool was_not_read(std::string_view finding) {
  constexpr std::string_view code = "error code=";
  const std::size_t at = finding.rfind(code);
  if (at == std::string_view::npos) return false;
  int number = 0;
  std::from_chars(finding.data() + at + code.size(), finding.data() + finding.size(), number);
  const int primary = number & 0xff;  // NOLINT(hicpp-signed-bitwise): sqlite3.h's own rule
  return primary == SQLITE_NOMEM || primary == SQLITE_IOERR;
}

Status check_pages(Connection& connection) {
  std::string finding;
  auto checked =
      connection.each("pragma quick_check(1)", [&](const Row& row) { finding = row.text(0); });
  if (!checked) return checked;
  if (finding == "ok") return {};
  if (was_not_read(finding)) {
    return fail(ErrorKind::transient,
                fmt::format("the run database could not be checked: {}", finding),
                connection.file().string(), "look at memory and disk, and start trainwardd again");
  }
  return fail(
      ErrorKind::corrupt, fmt::format("the run database is damaged: {}", finding),
      connection.file().string(),
      "start trainwardd again: it sets the file aside and makes a new one from the journals");
}

}  // namespace

std::string own_mark() {
  std::array<unsigned char, 8> bytes{};
  sqlite3_randomness(static_cast<int>(bytes.size()), bytes.data());
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file) {
  if (auto made = make_file(file); !made) return propagate(made);
  if (auto files = check_files(file); !files) return propagate(files);
  auto opened = Connection::open(file, Connection::Mode::read_write);
  if (!opened) return propagate(opened);
  Connection& connection = **opened;
  if (auto checked = check_file(connection, true); !checked) return propagate(checked);
  if (auto own = check_own(connection); !own) return propagate(own);
  if (auto whole = check_pages(connection); !whole) return propagate(whole);
  // FULL unless begin() is told otherwise.
  if (auto set =
          connection.script("pragma journal_mode = wal; pragma synchronous = full;"
                            "pragma foreign_keys = on; pragma journal_size_limit = 16777216");
      !set) {
    return propagate(set);
  }
  if (auto migrated = migrate(connection); !migrated) return propagate(migrated);
  return Store(std::make_unique<Impl>(std::move(*opened)));
}

Result<Store> Store::open_read_only(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return fail(ErrorKind::permanent, "there is no run database", file.string(),
                "start trainwardd, or name the state folder with --state-dir");
  }
  if (auto files = check_files(file); !files) return propagate(files);
  auto opened = Connection::open(file, Connection::Mode::read_only);
  if (!opened) return propagate(opened);
  if (auto checked = check_file(**opened, false); !checked) return propagate(checked);
  return Store(std::make_unique<Impl>(std::move(*opened)));
}

Status Store::check(const std::filesystem::path& file) {
  if (auto files = check_files(file); !files) return files;
  auto opened = Connection::open(file, Connection::Mode::read_only);
  if (!opened) return propagate(opened);
  if (auto checked = check_file(**opened, true); !checked) return checked;
  return check_own(**opened);
}

Store::Transaction::Transaction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Transaction::Transaction(Transaction&&) noexcept = default;

Store::Transaction::~Transaction() {
  if (impl_ && impl_->open) impl_->connection.roll_back();
}

Result<Store::Transaction> Store::begin(Survives survives) {
  const char* setting =
      survives == Survives::power ? "pragma synchronous = full" : "pragma synchronous = normal";
  if (auto set = impl_->connection->run(setting); !set) return propagate(set);
  if (auto begun = impl_->connection->run("begin immediate"); !begun) return propagate(begun);
  return Transaction(std::make_unique<Transaction::Impl>(Transaction::Impl{*impl_->connection}));
}

std::shared_ptr<void> Store::snapshot() const {
  return std::make_shared<Snapshot>(*impl_->connection);
}

const std::filesystem::path& Store::file() const { return impl_->connection->file(); }
std::int64_t Store::deliverable() const { return impl_->deliverable; }

void Store::on_commit(std::function<void()> committing) {
  impl_->connection->on_commit(std::move(committing));
}

Result<std::string> Store::mark() const {
  Connection& db = *impl_->connection;
  std::int64_t version = 0;
  auto read = db.each("pragma data_version", [&](const Row& row) { version = row.integer(0); });
  if (!read) return propagate(read);
  return fmt::format("{}.{}.{}", impl_->mark, version, db.changes());
}

Status Store::Transaction::commit() {
  auto committed = impl_->connection.run("commit");
  if (committed) impl_->open = false;
  return committed;
}

}  // namespace trainward::store
