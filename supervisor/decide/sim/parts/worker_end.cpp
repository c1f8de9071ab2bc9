// How a simulated worker breaks, is stopped, and ends.
#include "supervisor/decide/sim/parts/sim_worker.hpp"

namespace trainward::sim {
namespace {

core::LogMatch line_of(core::Cause cause) {
  const std::string name(to_string(cause));
  return {name, cause, 60, "simulated " + name, "stderr.log:1"};
}

// None for a number that is no cause's.
core::Cause cause_of(std::int64_t number) {
  const bool known = number > 0 && number < static_cast<std::int64_t>(core::causes.size());
  return known ? static_cast<core::Cause>(number) : core::Cause::none;
}

}  // namespace

void Worker::go_silent(bool busy) {
  guilty_ = true;
  silent_ = true;
  busy_ = busy;
  silent_since_ms_ = m_.clock.true_ms;
  m_.score.turn_to(Spent::broken, m_.clock.true_ms);
}

void Worker::strike(const Injection& injection) {
  if (!alive_) return;
  switch (injection.fault) {
    case Fault::crash:
      return die(11);
    case Fault::error:
      return exit(1, cause_of(injection.amount));
    case Fault::device_oom:
      return exit(1, core::Cause::device_oom);
    case Fault::host_oom:
      return die(9, 1);
    case Fault::killed:
      return die(9);
    case Fault::ask_again:
      return exit(75);
    case Fault::config_error:
      return exit(78);
    case Fault::hang:
    case Fault::busy_hang:
      if (!silent_) go_silent(injection.fault == Fault::busy_hang);
      return;
    case Fault::ignores_term:
      ignores_term_ = true;
      return;
    case Fault::unkillable:
      unkillable_until_ms_ = m_.clock.true_ms + injection.amount;
      if (!silent_) go_silent(false);
      return;
    case Fault::slow_compile:
      slow_compile_ms_ = injection.amount;
      return;
    case Fault::bad_data:
    case Fault::spike:
      m_.bad_data.push_back({step_ + 1, step_ + std::max<std::int64_t>(injection.amount, 1),
                             injection.fault == Fault::spike});
      return;
    case Fault::link_lost:
    case Fault::board_dead:
      return m_.random.one_in(2) ? exit(1, core::Cause::ethernet) : go_silent(false);
    case Fault::shim_killed:
      if (m_.clock.true_ms >= unkillable_until_ms_) vanish();
      return;
    default:
      return;  // not the worker's
  }
}

void Worker::signal(core::Signal signal) {
  if (!alive_) return;
  const std::int64_t now = m_.clock.true_ms;
  if (signal == core::Signal::kill) {
    m_.queue.add(std::max(now + m_.random.between(5, 50), unkillable_until_ms_), Due::kernel,
                 order_.attempt);
    return;
  }
  if (term_ || silent_ || ignores_term_) {
    guilty_ = guilty_ || ignores_term_ || silent_;
    return;
  }
  term_ = true;
  term_at_ms_ = now;
  if (doing_ == Moment::start || doing_ == Moment::load || doing_ == Moment::compile)
    return exit(75);
  turn_to(doing_);  // a fault may wait for a worker that is asked to stop
}

void Worker::kernel_lets_go() {
  if (alive_ && m_.clock.true_ms >= unkillable_until_ms_) die(9);
}

void Worker::exit(int code, core::Cause cause, std::int64_t oom_kills) {
  core::WorkerExited how;
  how.code = code;
  how.oom_kills = oom_kills;
  if (cause != core::Cause::none) m_.journal.log.push_back(line_of(cause));
  end(std::move(how));
}

void Worker::die(int signal, std::int64_t oom_kills) {
  core::WorkerExited how;
  how.signal = signal;
  how.oom_kills = oom_kills;
  end(std::move(how));
}

void Worker::end(core::WorkerExited how) {
  alive_ = false;
  if (doing_ == Moment::train) m_.score.turn_out_as(Spent::broken, m_.clock.true_ms);
  m_.score.turn_to(Spent::waiting, m_.clock.true_ms);
  m_.write(std::move(how));
  m_.after(m_.random.between(10, 200), Due::shim_gone, order_.attempt);
}

void Worker::vanish() {
  alive_ = false;
  if (doing_ == Moment::train) m_.score.turn_out_as(Spent::broken, m_.clock.true_ms);
  m_.score.turn_to(Spent::waiting, m_.clock.true_ms);
  m_.after(1, Due::shim_gone, order_.attempt);
}

}  // namespace trainward::sim
