// The run database, as the sessions commit to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/error.hpp"
#include "common/base/time.hpp"
#include "supervisor/decide/session/ports.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

class StoreDatabase final : public session::Database {
 public:
  explicit StoreDatabase(store::Store& store) : store_(store) {}

  Status transact(session::Survives survives, const std::function<Status()>& write) override;
  void refuses(const Error& why, std::int64_t retry_ms) override;
  void takes_again() override;
  void is_unfit(const Error& why) override;
  // Called when it refuses for good.
  void on_unfit(std::function<void(const Error&)> told) { unfit_ = std::move(told); }
  // Called whenever it takes again what it has refused: why, and for how long.
  void on_taking_again(std::function<void(const Error&, std::int64_t lasted_ms)> told) {
    told_ = std::move(told);
  }

 private:
  struct Refusal {
    Error why;
    Time since;
  };
  store::Store& store_;
  std::optional<Refusal> refusal_;
  std::function<void(const Error&, std::int64_t)> told_;
  std::function<void(const Error&)> unfit_;
};

}  // namespace trainward::daemon
