// A simulated training worker, from its start to its end.
//
// It goes start → load → compile → (step …, save) … on the machine's queue, writes what it says
// into the attempt's journal, and breaks as the scenario says. It knows whether it is healthy: a
// healthy worker must never be killed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/sim/parts/sim_machine.hpp"

namespace trainward::sim {

struct Order {
  std::int64_t attempt = 0;
  int board = -1;           // none
  std::vector<int> more{};  // of a mesh
  std::string resume_from;
  std::int64_t resume_step = 0;
  core::Plan plan;
  bool from_scratch = false;  // whatever it was told

  [[nodiscard]] bool runs_on(int index) const {
    return board == index || std::ranges::find(more, index) != more.end();
  }
};

class Worker {
 public:
  // `waiting`: faults that strike when a worker reaches their moment.
  Worker(Machine& machine, Order order, std::vector<Injection>& waiting);

  // Its turn, if it is still the one that was scheduled.
  void next(std::int64_t generation);
  void signal(core::Signal signal);
  void kernel_lets_go();  // after SIGKILL
  void strike(const Injection& injection);
  void vanish();  // with the machine, or with its shim: nothing is recorded

  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] bool healthy() const { return !guilty_; }
  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] Moment doing() const { return term_ ? Moment::stop : doing_; }
  [[nodiscard]] std::int64_t term_at_ms() const { return term_at_ms_; }
  [[nodiscard]] core::ActivitySeen activity() const;
  [[nodiscard]] core::MemorySample memory() const;

 private:
  void turn_to(Moment doing);
  void schedule(std::int64_t ms);
  void say(core::Event event);
  void load();
  void compile();
  void begin_step();
  void finish_step();
  void begin_save();
  void finish_save();
  void exit(int code, core::Cause cause = core::Cause::none, std::int64_t oom_kills = 0);
  void die(int signal, std::int64_t oom_kills = 0);
  void end(core::WorkerExited how);
  void go_silent(bool busy);
  [[nodiscard]] bool meets_bad_data(bool& spike) const;
  [[nodiscard]] bool save_due() const;
  [[nodiscard]] double slowness() const;

  Machine& m_;
  Order order_;
  std::vector<Injection>& waiting_;
  std::int64_t born_ms_;
  std::int64_t generation_ = 0;
  Moment doing_ = Moment::start;
  bool alive_ = true;
  bool guilty_ = false;
  bool silent_ = false;
  bool busy_ = false;
  bool link_failed_ = false;
  std::int64_t silent_since_ms_ = 0;
  bool term_ = false;
  std::int64_t term_at_ms_ = 0;
  bool ignores_term_ = false;
  std::int64_t unkillable_until_ms_ = 0;
  std::int64_t slow_compile_ms_ = 0;
  std::int64_t step_ = 0;
  std::int64_t steps_here_ = 0;
  std::int64_t saved_step_ = 0;
  std::int64_t last_save_ms_ = 0;
  std::int64_t oom_after_ = 0;
  bool poisoned_nan_ = false;
  bool poisoned_high_ = false;
};

}  // namespace trainward::sim
