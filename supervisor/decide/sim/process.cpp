#include "supervisor/decide/sim/process.hpp"

#include <utility>

namespace trainward::sim {

Process::Life::Life(Process& p)
    : timer(p.m_, p.posts_, Due::timer),
      retry(p.m_, p.posts_, Due::retry),
      turns(retry, p.database_),
      session({turns, timer, p.database_, p.hands_, p.hands_}, p.decider_.policy, p.decider_.step) {
}

// One piece of work, and what it has left for the loop.
template <typename Work>
void Process::live(Work work) {
  if (!life_) return;
  try {
    work(*life_);
    for (std::size_t i = 0; i < posts_.size(); ++i) std::exchange(posts_[i], nullptr)();
    posts_.clear();
  } catch (const Killed&) {
    return crash();
  }
  leave_if_done();
}

void Process::begin() {
  const bool machine_off = m_.clock.true_ms < m_.clock.boot_true_ms;
  if (life_ || machine_off) return;
  life_.emplace(*this);
  hands_.serve(&life_->session);
  live([this](Life& life) {
    if (!database_.has_program()) return life.session.begin(true);
    life.session.recover(database_.state(), database_.counted(),
                         database_.boot_true_ms() != m_.clock.boot_true_ms);
  });
}

void Process::die() {
  hands_.serve(nullptr);
  life_.reset();
  posts_.clear();
  leaving_.reset();
  kill_.disarm();
}

void Process::crash() {
  die();
  // Mostly systemd starts it again at once; now and then nobody does for a while.
  const bool long_gone = m_.random.one_in(4);
  m_.after(long_gone ? m_.random.between(minute_ms, 3 * hour_ms)
                     : m_.random.between(second_ms, 10 * second_ms),
           Due::daemon);
}

void Process::handle(core::Event event) {
  live([&](Life& life) { life.session.handle(std::move(event)); });
}

void Process::shut_down(std::int64_t comes_back_after_ms) {
  if (!life_ || leaving_) return;
  leaving_ = comes_back_after_ms;
  handle(core::StopRequested{"shutdown", true});
}

void Process::leave_if_done() {
  if (!leaving_) return;
  const bool unrecorded = life_->turns.refusal() && life_->session.at_rest_unrecorded();
  if (!life_->session.at_rest() && !unrecorded) return;
  const std::int64_t back = *leaving_;
  die();
  m_.after(back, Due::daemon);
}

void Process::take(const Item& item) {
  if (item.due == Due::daemon) return begin();
  live([&](Life& life) {
    if (item.due == Due::timer) return life.timer.on_due();
    if (item.due == Due::retry) return life.retry.on_due();
    if (item.due == Due::answer) return hands_.on_answer(item.id);
    if (item.due == Due::journal) return hands_.on_journal(item.id);
    if (item.due == Due::shim_gone) return hands_.on_shim_gone(item.id);
  });
}

bool Process::settled() const {
  return life_ && !life_->session.busy() && !life_->session.recovering() &&
         !life_->session.ending();
}

}  // namespace trainward::sim
