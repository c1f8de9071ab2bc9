// What a Store holds; private to this folder.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "supervisor/store/connection.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::store {

// 16 letters of chance.
std::string own_mark();

struct Store::Impl {
  explicit Impl(std::unique_ptr<Connection> opened) : connection(std::move(opened)) {}
  std::unique_ptr<Connection> connection;
  std::string mark = own_mark();  // of this Store and no other
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
