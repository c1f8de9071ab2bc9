#include "supervisor/daemon/turns.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/fault_point.hpp"
#include "common/text.hpp"

namespace trainward::daemon {
namespace {

// How long a database that refuses to commit is left alone before the next try.
constexpr std::int64_t retry_ms = 1'000;

}  // namespace

void Turns::request(Participant* participant) {
  if (std::find(due_.begin(), due_.end(), participant) == due_.end()) due_.push_back(participant);
  if (refusal_ || std::exchange(posted_, true)) return;
  loop_.post([this] {
    posted_ = false;
    turn();
  });
}

void Turns::forget(Participant* participant) {
  std::erase(due_, participant);
  std::replace(finishing_.begin(), finishing_.end(), participant,
               static_cast<Participant*>(nullptr));
}

Status Turns::commit(const std::vector<Participant*>& together) {
  using Survives = store::Store::Survives;
  const bool wishes = std::any_of(together.begin(), together.end(),
                                  [](const Participant* p) { return p->wishes(); });
  auto transaction = store_.begin(wishes ? Survives::power : Survives::process);
  if (!transaction) return propagate(transaction);
  for (Participant* participant : together) {
    if (auto ok = participant->prepare(); !ok) return ok;
  }
  fault_point("turn.before_commit");
  auto committed = transaction->commit();
  fault_point("turn.after_commit");
  return committed;
}

// What is done for one program may remove another, or ask for the next turn.
void Turns::finish(std::vector<Participant*> together, bool committed) {
  finishing_ = std::move(together);
  for (std::size_t i = 0; i < finishing_.size(); ++i) {
    if (finishing_[i] != nullptr) finishing_[i]->finish(committed);
    if (!committed && finishing_[i] != nullptr) due_.push_back(finishing_[i]);
  }
  finishing_.clear();
}

void Turns::turn() {
  const std::vector<Participant*> together = std::exchange(due_, {});
  if (together.empty()) {  // whoever was refused is gone
    refusal_.reset();
    return;
  }
  Status saved = commit(together);
  if (!saved && together.size() > 1 && saved.error().kind != ErrorKind::transient) {
    finish(together, false);
    for (Participant* participant : std::exchange(due_, {})) {
      const Status alone = commit({participant});
      finish({participant}, alone.has_value());
      if (!alone) saved = alone;
    }
  } else {
    finish(together, saved.has_value());
  }
  report(saved);
}

void Turns::report(const Status& saved) {
  if (saved) {
    if (std::exchange(refusal_, std::nullopt)) {
      spdlog::info("the run database takes what happens again");
      if (!due_.empty()) request(due_.front());
    }
    return;
  }
  const bool first = !refusal_;
  refusal_ = Refusal{saved.error(), first ? trainward::now() : refusal_->since};
  if (first) {
    spdlog::error("the run database does not take what happened: {}; trying again every {}",
                  saved.error().message(), human_duration(retry_ms));
  }
  retry_.after(retry_ms, [this] { turn(); });
}

}  // namespace trainward::daemon
