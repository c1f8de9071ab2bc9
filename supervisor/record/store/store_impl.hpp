// What a Store holds; private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::store {

// 16 letters of chance.
std::string own_mark();

// Takes `core_state` out of a program's row and puts in what readers are told of it: what holds it
// (a name of core/need.hpp) and from when somebody has to act, and until when it waits; "" and 0.
void put_plight(json::object& row);

// Of all of a run's time, with the span of `core_state` that is not booked yet, what brought it on;
// none: no time is known. What ledger_json() says of the whole run.
Result<std::optional<double>> effective_share(Connection& db, const std::string& program,
                                              const std::string& core_state, Time now);

struct Store::Impl {
  explicit Impl(std::unique_ptr<Connection> opened) : connection(std::move(opened)) {}
  std::unique_ptr<Connection> connection;
  std::string mark = own_mark();  // of this Store and no other
  std::int64_t deliverable = 0;   // messages and checkpoints it has written
};

struct Store::Transaction::Impl {
  Connection& connection;
  bool open = true;
};

// Several reads that must agree with each other see one state of the database.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection)
      : connection_(connection), mine_(!connection.in_transaction()) {
    if (mine_) mine_ = connection_.run("begin").has_value();
  }
  ~Snapshot() {
    if (mine_) connection_.roll_back();
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  Snapshot(Snapshot&&) = delete;
  Snapshot& operator=(Snapshot&&) = delete;

 private:
  Connection& connection_;
  bool mine_;
};

}  // namespace trainward::store
