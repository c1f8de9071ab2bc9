// The one place that talks to SQLiteCpp: prepared statements kept by their text, exceptions turned
// into errors.
//
// transient: busy, locked, disk full, an input/output error; corrupt: damaged, no database, or one
// whose content or schema contradicts what is asked of it; permanent: the rest. `where` is the
// database file.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/base/error.hpp"

namespace trainward::store {

// One row of a result; columns by position. Only valid inside the callback that received it.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const { return statement_.isColumnNull(column); }
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;  // NaN for null
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::optional<int> optional_int(int column) const;
  [[nodiscard]] SQLite::Statement& statement() const { return statement_; }
  // By the type of where it goes.
  void read(int column, std::int64_t& to) const { to = integer(column); }
  void read(int column, std::string& to) const { to = text(column); }
  void read(int column, std::optional<int>& to) const { to = optional_int(column); }
  void read(int column, double& to) const { to = real(column); }
  void read(int column, std::optional<double>& to) const {
    to = is_null(column) ? std::nullopt : std::optional(real(column));
  }
  void read(int column, std::optional<std::int64_t>& to) const {
    to = is_null(column) ? std::nullopt : std::optional(integer(column));
  }
  void read(int column, bool& to) const { to = integer(column) != 0; }

 private:
  SQLite::Statement& statement_;
};

class Connection {
 public:
  enum class Mode { read_write, read_only };
  static Result<std::unique_ptr<Connection>> open(const std::filesystem::path& file, Mode mode);

  // A statement without results. Arguments: whole numbers, double, bool, text, optional of these.
  template <typename... Args>
  Status run(std::string_view sql, const Args&... args) {
    return each(
        sql, [](const Row&) {}, args...);
  }

  // Calls on_row for every row, or until it returns false. Queries nested in on_row must have
  // another text.
  template <typename OnRow, typename... Args>
  Status each(std::string_view sql, OnRow&& on_row, const Args&... args) {
    return guarded([&] {
      SQLite::Statement& statement = prepared(sql);
      const Resetter resetter(statement);
      int position = 0;
      (bind(statement, ++position, args), ...);
      while (statement.executeStep()) {
        if constexpr (std::is_same_v<std::invoke_result_t<OnRow, const Row&>, bool>) {
          if (!on_row(Row(statement))) break;
        } else {
          on_row(Row(statement));
        }
      }
    });
  }

  // Several statements without arguments.
  Status script(const std::string& sql);

  // Called within every commit; must not use the connection.
  void on_commit(std::function<void()> committing);
  [[nodiscard]] bool in_transaction() const;
  void roll_back() noexcept;
  // Rows that this connection has changed since it was opened.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  class Resetter {
   public:
    explicit Resetter(SQLite::Statement& statement) : statement_(statement) {}
    Resetter(const Resetter&) = delete;
    Resetter& operator=(const Resetter&) = delete;
    Resetter(Resetter&&) = delete;
    Resetter& operator=(Resetter&&) = delete;
    ~Resetter();

   private:
    SQLite::Statement& statement_;
  };

  Connection(std::filesystem::path file, SQLite::Database database)
      : file_(std::move(file)), database_(std::move(database)) {}

  SQLite::Statement& prepared(std::string_view sql);
  Status guarded(const std::function<void()>& action);
  [[nodiscard]] Error translated(const SQLite::Exception& exception);

  static void bind(SQLite::Statement& statement, int position, std::int64_t value) {
    statement.bind(position, value);
  }
  static void bind(SQLite::Statement& statement, int position, int value) {
    statement.bind(position, value);
  }
  static void bind(SQLite::Statement& statement, int position, std::uint64_t value) {
    statement.bind(position, static_cast<std::int64_t>(value));
  }
  static void bind(SQLite::Statement& statement, int position, bool value) {
    statement.bind(position, value ? 1 : 0);
  }
  static void bind(SQLite::Statement& statement, int position, double value) {
    statement.bind(position, value);
  }
  static void bind(SQLite::Statement& statement, int position, const std::string& value) {
    statement.bind(position, value);
  }
  template <typename T>
  static void bind(SQLite::Statement& statement, int position, const std::optional<T>& value) {
    value ? statement.bind(position, *value) : statement.bind(position);
  }

  std::filesystem::path file_;
  std::unique_ptr<std::function<void()>> committing_;  // SQLite has its address
  SQLite::Database database_;
  std::map<std::string, SQLite::Statement, std::less<>> statements_;  // closed before database_
};

}  // namespace trainward::store
