// The run database, as the sessions commit to it.
#pragma once

#include "supervisor/session/ports.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

class StoreDatabase final : public session::Database {
 public:
  explicit StoreDatabase(store::Store& store) : store_(store) {}

  Status transact(session::Survives survives, const std::function<Status()>& write) override;
  void refuses(const Error& why, std::int64_t retry_ms) override;
  void takes_again() override;

 private:
  store::Store& store_;
};

}  // namespace trainward::daemon
