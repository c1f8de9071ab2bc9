#include "supervisor/decide/sim/parts/sim_worker.hpp"

#include <cmath>
#include <limits>

namespace trainward::sim {
namespace {

constexpr std::int64_t mebibyte = 1024 * 1024;

}  // namespace

Worker::Worker(Machine& machine, Order order, std::vector<Injection>& waiting)
    : m_(machine), order_(std::move(order)), waiting_(waiting), born_ms_(machine.clock.true_ms) {
  m_.score.turn_to(Spent::loading, born_ms_);
  ++m_.score.attempts;
  m_.journal.worker_known = true;
  m_.write(core::WorkerStarted{4'000 + order_.attempt});
  last_save_ms_ = born_ms_;
  turn_to(Moment::start);
  if (alive_ && !silent_) schedule(m_.random.about(m_.setup.start_ms));
}

void Worker::schedule(std::int64_t ms) {
  m_.after(std::max<std::int64_t>(ms, 1), Due::worker, ++generation_);
}

void Worker::say(core::Event event) {
  if (m_.setup.speaks != 0) m_.write(std::move(event));
}

// A fault that waits for this moment strikes now.
void Worker::turn_to(Moment doing) {
  doing_ = doing;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].moment != this->doing()) continue;
    const Injection due = waiting_[i];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    return strike(due);
  }
}

void Worker::next(std::int64_t generation) {
  if (!alive_ || silent_ || generation != generation_) return;
  switch (doing_) {
    case Moment::start:
      return load();
    case Moment::load:
      return link_failed_ ? exit(1, core::Cause::ethernet) : compile();
    case Moment::compile:
      m_.caches.keep(order_.board, order_.plan);
      say(core::PhaseEntered{"train"});
      return begin_step();
    case Moment::train:
      return finish_step();
    case Moment::save:
      return finish_save();
    case Moment::any:
    case Moment::stop:
      return;
  }
}

void Worker::load() {
  say(core::PhaseEntered{"load"});
  turn_to(Moment::load);
  if (!alive_ || silent_) return;
  bool board_broken = false;
  for (std::size_t i = 0; i < m_.boards.size(); ++i) {
    board_broken = board_broken || (order_.runs_on(static_cast<int>(i)) && !m_.boards[i].link_up);
  }
  if (board_broken) {  // the runtime gives up by itself
    guilty_ = true;
    link_failed_ = true;
    return schedule(5 * minute_ms);
  }
  schedule(m_.random.about(m_.setup.load_ms));
}

void Worker::compile() {
  const Checkpoint* from = m_.disk.find(order_.resume_from);
  if (!order_.resume_from.empty() && !order_.from_scratch) {
    if (from == nullptr || from->damaged) return exit(1, core::Cause::data);
    poisoned_nan_ = from->poisoned;
    poisoned_high_ = from->poisoned;
  }
  step_ = order_.from_scratch ? 0 : order_.resume_step;
  saved_step_ = step_;
  if (order_.from_scratch && order_.resume_step > 0) guilty_ = true;
  say(core::Resumed{step_});
  say(core::PhaseEntered{"compile"});
  m_.score.turn_to(Spent::compiling, m_.clock.true_ms);
  turn_to(Moment::compile);
  if (!alive_ || silent_) return;
  if (m_.caches.corrupt) return exit(1, core::Cause::cache_corrupt);
  const bool warm = m_.habits.keeps_caches && m_.caches.has(order_.board, order_.plan);
  const std::int64_t usual = warm ? m_.setup.compile_warm_ms : m_.setup.compile_cold_ms;
  schedule(slow_compile_ms_ > 0 ? slow_compile_ms_ : m_.random.about(usual));
}

double Worker::slowness() const {
  // Recomputing costs a third; half a block costs a little more than half the time.
  double factor = order_.plan.recompute ? 1.33 : 1.0;
  if (m_.setup.block > 0 && order_.plan.block > 0) {
    factor *=
        0.1 + 0.9 * static_cast<double>(order_.plan.block) / static_cast<double>(m_.setup.block);
  }
  return factor * (1.0 + 0.02 * static_cast<double>(order_.plan.accumulation - 1));
}

void Worker::begin_step() {
  const bool again = step_ + 1 <= m_.score.furthest;
  m_.score.turn_to(again ? Spent::replaying : Spent::stepping, m_.clock.true_ms);
  turn_to(Moment::train);
  if (!alive_ || silent_) return;
  auto ms = static_cast<std::int64_t>(static_cast<double>(m_.random.about(m_.setup.step_ms)) *
                                      slowness());
  if (m_.random.one_in(50)) ms *= 2;  // a slow file system, a busy neighbour
  schedule(ms);
}

bool Worker::meets_bad_data(bool& spike) const {
  for (const BadData& bad : m_.bad_data) {
    if (step_ < bad.from || step_ > bad.to) continue;
    const auto& skip = order_.plan.skip;
    const bool skipped = std::any_of(skip.begin(), skip.end(), [&](const core::DataWindow& w) {
      return step_ >= w.from.number && step_ <= w.to.number;
    });
    spike = bad.spike;
    if (!skipped || m_.setup.obeys_plan == 0) return true;
  }
  return false;
}

bool Worker::save_due() const {
  if (step_ == saved_step_) return false;
  if (m_.setup.obeys_plan != 0 && order_.plan.checkpoint_every > 0) {
    return step_ - saved_step_ >= order_.plan.checkpoint_every;
  }
  return m_.clock.true_ms - last_save_ms_ >= m_.setup.save_every_ms;
}

void Worker::finish_step() {
  if (oom_after_ == 0 && m_.setup.oom_most > 0) {
    std::int64_t room = m_.random.between(m_.setup.oom_least, m_.setup.oom_most);
    if (m_.setup.plan_helps != 0) {
      if (order_.plan.recompute) room *= 2;
      room *= order_.plan.accumulation;
      if (order_.plan.block > 0) room = room * m_.setup.block / order_.plan.block;
    }
    oom_after_ = std::max<std::int64_t>(room, 1);
  }
  if (oom_after_ > 0 && steps_here_ >= oom_after_) return exit(1, core::Cause::device_oom);
  const std::int64_t leaked = m_.setup.host_leak_mib * (steps_here_ + 1);
  if (m_.setup.host_leak_mib > 0 && 8'192 + leaked > m_.setup.host_mib) return die(9, 1);
  ++step_;
  ++steps_here_;
  bool spike = false;
  if (meets_bad_data(spike)) (spike ? poisoned_high_ : poisoned_nan_) = true;
  double loss = 2.0 + 0.01 * static_cast<double>(m_.random.between(-20, 20));
  if (poisoned_high_) loss *= 4;
  if (poisoned_nan_) loss = std::numeric_limits<double>::quiet_NaN();
  if (poisoned_high_ || poisoned_nan_) guilty_ = true;
  Score& score = m_.score;
  ++score.executed;
  const std::int64_t block = order_.plan.block > 0 ? order_.plan.block : m_.setup.block;
  if (step_ > score.furthest) score.tokens += block * std::max<std::int64_t>(m_.setup.batch, 1);
  say(core::StepDone{step_, loss, 1.0, {}, step_ * block, 1.0});
  score.turn_to(score.now, m_.clock.true_ms);
  score.furthest = std::max(score.furthest, step_);
  if (step_ >= m_.setup.target_steps) return step_ == saved_step_ ? exit(0) : begin_save();
  if (term_)
    return m_.setup.saves_when_asked != 0 && step_ != saved_step_ ? begin_save() : exit(75);
  if (save_due()) return begin_save();
  begin_step();
}

void Worker::begin_save() {
  say(core::PhaseEntered{"save"});
  m_.score.turn_to(Spent::saving, m_.clock.true_ms);
  turn_to(Moment::save);
  if (!alive_ || silent_) return;
  schedule(m_.random.about(m_.setup.save_ms));
}

void Worker::finish_save() {
  if (m_.disk.full) return exit(1, core::Cause::disk);
  const Checkpoint& written = m_.disk.write(step_, poisoned_nan_ || poisoned_high_);
  saved_step_ = step_;
  last_save_ms_ = m_.clock.true_ms;
  // The folder is watched also when the worker says nothing.
  m_.write(core::CheckpointReported{written.path, step_});
  if (step_ >= m_.setup.target_steps) return exit(0);
  if (term_) return exit(75);
  say(core::PhaseEntered{"train"});
  begin_step();
}

core::ActivitySeen Worker::activity() const {
  const std::int64_t until = silent_ && !busy_ ? silent_since_ms_ : m_.clock.true_ms;
  core::ActivitySeen seen;
  seen.cpu_ms = (until - born_ms_) / 2;
  if (doing_ == Moment::compile && !silent_) seen.cache_bytes = until - born_ms_;
  return seen;
}

core::MemorySample Worker::memory() const {
  const std::int64_t used = 8'192 + m_.setup.host_leak_mib * steps_here_;
  return {used * mebibyte, std::max<std::int64_t>(m_.setup.host_mib - used, 0) * mebibyte};
}

}  // namespace trainward::sim
