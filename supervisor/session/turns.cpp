#include "supervisor/session/turns.hpp"

#include <algorithm>
#include <utility>

namespace trainward::session {
namespace {

// How long a database that refuses to commit is left alone before the next try.
constexpr std::int64_t retry_ms = 1'000;

}  // namespace

// Once: it may have asked for its next turn while this one was refused.
void Turns::add(Participant* participant) {
  if (std::find(due_.begin(), due_.end(), participant) == due_.end()) due_.push_back(participant);
}

void Turns::request(Participant* participant) {
  add(participant);
  if (refusal_ || std::exchange(posted_, true)) return;
  clock_.soon([this] {
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
  const bool wishes = std::any_of(together.begin(), together.end(),
                                  [](const Participant* p) { return p->wishes(); });
  return database_.transact(wishes ? Survives::power : Survives::process, [&]() -> Status {
    for (Participant* participant : together) {
      if (auto ok = participant->prepare(); !ok) return ok;
    }
    return {};
  });
}

// What is done for one program may remove another, or ask for the next turn.
void Turns::finish(std::vector<Participant*> together, bool committed) {
  finishing_ = std::move(together);
  for (std::size_t i = 0; i < finishing_.size(); ++i) {
    if (finishing_[i] != nullptr) finishing_[i]->finish(committed);
    if (!committed && finishing_[i] != nullptr) add(finishing_[i]);
  }
  finishing_.clear();
}

void Turns::turn() {
  std::vector<Participant*> together = std::exchange(due_, {});
  if (together.empty()) {  // whoever was refused is gone
    refusal_.reset();
    return;
  }
  Status saved = commit(together);
  if (!saved && together.size() > 1 && saved.error().kind != ErrorKind::transient) {
    finish(std::move(together), false);
    for (Participant* participant : std::exchange(due_, {})) {
      const Status alone = commit({participant});
      finish({participant}, alone.has_value());
      if (!alone) saved = alone;
    }
  } else {
    finish(std::move(together), saved.has_value());
  }
  report(saved);
}

void Turns::report(const Status& saved) {
  if (saved) {
    if (std::exchange(refusal_, std::nullopt)) {
      database_.takes_again();
      if (!due_.empty()) request(due_.front());
    }
    return;
  }
  const bool first = !refusal_;
  refusal_ = Refusal{saved.error(), first ? clock_.now() : refusal_->since};
  if (first) database_.refuses(saved.error(), retry_ms);
  clock_.at(clock_.now().mono + retry_ms, [this] { turn(); });
}

}  // namespace trainward::session
