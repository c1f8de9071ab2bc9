#include "supervisor/daemon/records/store_database.hpp"

#include <spdlog/spdlog.h>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fault_point.hpp"

namespace trainward::daemon {

Status StoreDatabase::transact(session::Survives survives, const std::function<Status()>& write) {
  using Survives = store::Store::Survives;
  const bool power = survives == session::Survives::power;
  auto transaction = store_.begin(power ? Survives::power : Survives::process);
  if (!transaction) return propagate(transaction);
  if (auto written = write(); !written) return written;
  fault_point("turn.before_commit");
  auto committed = transaction->commit();
  fault_point("turn.after_commit");
  return committed;
}

void StoreDatabase::refuses(const Error& why, std::int64_t retry_ms) {
  spdlog::error("the run database does not take what happened: {}; trying again every {}",
                why.message(), human_duration(retry_ms));
  refusal_ = Refusal{why, now()};
}

void StoreDatabase::takes_again() {
  spdlog::info("the run database takes what happens again");
  const auto refusal = std::exchange(refusal_, std::nullopt);
  if (refusal && told_) told_(refusal->why, now().mono - refusal->since.mono);
}

void StoreDatabase::is_unfit(const Error& why) {
  if (unfit_) unfit_(why);
}

}  // namespace trainward::daemon
