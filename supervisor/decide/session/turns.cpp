#include "supervisor/decide/session/turns.hpp"

#include <algorithm>
#include <utility>

namespace trainward::session {
namespace {

// How long a database that refuses to commit is left alone before the next try.
constexpr std::int64_t retry_ms = 1'000;
constexpr int tries_in_vain = 3;

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
  std::replace(together_.begin(), together_.end(), participant, static_cast<Participant*>(nullptr));
}

Status Turns::commit(Some some) {
  const bool wishes =
      std::any_of(some.begin(), some.end(), [](const Participant* p) { return p->wishes(); });
  return database_.transact(wishes ? Survives::power : Survives::process, [some]() -> Status {
    for (Participant* participant : some) {
      if (auto ok = participant->prepare(); !ok) return ok;
    }
    return {};
  });
}

// What is done for one program may remove another, or ask for the next turn.
void Turns::finish(Some some, bool committed) {
  for (Participant*& participant : some) {
    if (participant != nullptr) participant->finish(committed);
    if (!committed && participant != nullptr) add(participant);
  }
}

void Turns::turn() {
  if (due_.empty()) {  // those refused are gone
    refusal_.reset();
    return;
  }
  together_.swap(due_);
  Status saved = commit(together_);
  finish(together_, saved.has_value());
  if (!saved && together_.size() > 1 && saved.error().kind != ErrorKind::transient) {
    together_ = std::exchange(due_, {});
    for (Participant*& participant : together_) {
      if (participant == nullptr) continue;
      const Some alone(&participant, 1);
      const Status saved_alone = commit(alone);
      finish(alone, saved_alone.has_value());
      if (!saved_alone) saved = saved_alone;
    }
  }
  together_.clear();
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
  if (refusal_) {
    refusal_->error = saved.error();
  } else {
    refusal_ = Refusal{saved.error(), clock_.now()};
    database_.refuses(saved.error(), retry_ms);
  }
  int& in_vain = refusal_->in_vain;
  in_vain = saved.error().kind == ErrorKind::corrupt ? in_vain + 1 : 0;
  if (in_vain == tries_in_vain) database_.is_unfit(saved.error());
  clock_.at(clock_.now().mono + retry_ms, [this] { turn(); });
}

}  // namespace trainward::session
