#include "supervisor/decide/sim/scenario.hpp"

#include <algorithm>

#include "supervisor/decide/sim/parts/sim_random.hpp"

namespace trainward::sim {
namespace {

class Maker {
 public:
  Maker(std::string_view name, std::uint64_t seed, std::int64_t days)
      : random_(seed ^ 0x5ca1ab1eU) {
    scenario_.name = name;
    setup().seed = static_cast<std::int64_t>(seed);
    setup().horizon_ms = days * day_ms;
    setup().quiet_ms = setup().horizon_ms;
  }

  Setup& setup() { return scenario_.setup; }
  Random& random() { return random_; }

  void add(std::int64_t at_ms, Fault fault, std::int64_t amount = 0, Moment moment = Moment::any) {
    if (at_ms < setup().quiet_ms) scenario_.injections.push_back({at_ms, fault, amount, moment});
  }
  // About every `apart_ms`; every third comes on the heels of the one before.
  template <typename F>
  void every(std::int64_t apart_ms, F make) {
    std::int64_t at = random_.between(0, apart_ms);
    while (at < setup().quiet_ms) {
      make(at);
      at +=
          random_.one_in(3) ? random_.between(0, 3 * minute_ms) : random_.between(0, 2 * apart_ms);
    }
  }

  Scenario done() {
    std::stable_sort(scenario_.injections.begin(), scenario_.injections.end(),
                     [](const Injection& a, const Injection& b) { return a.at_ms < b.at_ms; });
    return std::move(scenario_);
  }

 private:
  Scenario scenario_;
  Random random_;
};

void port(Maker& make) {
  Setup& s = make.setup();
  s.step_ms = 90 * second_ms;
  s.compile_cold_ms = make.random().between(24, 66) * minute_ms;  // and a fifth either way
  s.compile_warm_ms = 2 * minute_ms;
  s.load_ms = 2 * minute_ms;
  s.oom_least = 3;
  s.oom_most = 5;
  s.plan_helps = 0;  // it ran out of memory at the smallest block, too
  s.boards = 4;
  s.dead_boards = 0;
  for (int i = 0; i < 3; ++i) s.dead_boards += make.random().one_in(4) ? 1 : 0;
}

void leaky_host(Maker& make) {
  Setup& s = make.setup();
  s.needs_board = 0;
  s.boards = 0;
  s.host_leak_mib = make.random().between(100, 800);
}

void flaky_ethernet(Maker& make) {
  Setup& s = make.setup();
  s.boards = 4;
  s.dead_boards = 1;
  s.lying_boards = make.random().between(0, 1);
  make.every(8 * hour_ms,
             [&](std::int64_t at) { make.add(at, Fault::link_lost, make.random().between(0, 3)); });
}

void mesh(Maker& make) {
  Setup& s = make.setup();
  s.mesh = 1;
  s.boards = 4;
  s.lying_boards = make.random().one_in(3) ? 1 : 0;
  s.quiet_ms = s.horizon_ms / 2;
  s.can_reset = make.random().one_in(3) ? 0 : 1;
  make.every(16 * hour_ms, [&](std::int64_t at) {
    make.add(at, make.random().one_in(3) ? Fault::board_dead : Fault::link_lost,
             make.random().between(0, 3));
    if (make.random().one_in(4)) make.add(at + hour_ms, Fault::daemon_killed, 3);
  });
}

void bad_loss(Maker& make) {
  make.setup().step_ms = minute_ms;
  make.every(day_ms, [&](std::int64_t at) {
    make.add(at, make.random().one_in(3) ? Fault::spike : Fault::bad_data,
             make.random().between(1, 2));
  });
}

void disk_full(Maker& make) {
  make.every(12 * hour_ms, [&](std::int64_t at) {
    make.add(at, make.random().one_in(2) ? Fault::disk_full : Fault::corrupt_newest,
             make.random().between(minute_ms, 2 * hour_ms));
  });
}

void daemon_killed(Maker& make) {
  make.every(2 * hour_ms, [&](std::int64_t at) {
    make.add(at, Fault::daemon_killed, make.random().between(-1, 12));
    if (make.random().one_in(8)) make.add(at, Fault::crash);
  });
}

// The usual amount for a fault that strikes somewhere in chaos.
std::int64_t amount_of(Fault fault, Random& random) {
  switch (fault) {
    case Fault::unkillable:
      return random.between(minute_ms, 2 * hour_ms);
    case Fault::slow_compile:
      return random.between(hour_ms, 8 * hour_ms);
    case Fault::bad_data:
    case Fault::spike:
      return random.between(1, 2);
    case Fault::lease_held:
      return random.between(1, 20);
    case Fault::link_lost:
    case Fault::board_dead:
      return random.between(0, 3);
    case Fault::disk_full:
    case Fault::database_busy:
      return random.between(second_ms, hour_ms);
    case Fault::daemon_killed:
      return random.between(-1, 12);
    case Fault::machine_restart:
    case Fault::shutdown:
      return random.between(minute_ms, hour_ms);
    case Fault::wall_jump:
      return random.between(-2 * hour_ms, 2 * hour_ms);
    default:
      return 0;
  }
}

void chaos(Maker& make) {
  Setup& s = make.setup();
  Random& random = make.random();
  s.quiet_ms = s.horizon_ms * 5 / 7;
  s.step_ms = random.between(30, 150) * second_ms;
  s.compile_cold_ms = random.between(5, 66) * minute_ms;
  s.save_ms = random.between(2, 60) * second_ms;
  s.save_every_ms = random.between(10, 60) * minute_ms;
  s.needs_board = random.one_in(4) ? 0 : 1;
  s.boards = random.between(1, 4);
  if (random.one_in(3)) s.dead_boards = 1;
  if (random.one_in(4)) s.lying_boards = 1;
  s.can_reset = random.one_in(3) ? 0 : 1;
  s.block = 64 << random.between(0, 3);
  s.batch = 1 << random.between(0, 3);
  s.obeys_plan = random.one_in(4) ? 0 : 1;
  s.speaks = random.one_in(8) ? 0 : 1;
  s.saves_when_asked = random.one_in(4) ? 0 : 1;
  if (random.one_in(3)) {
    s.oom_least = random.between(3, 60);
    s.oom_most = s.oom_least + random.between(0, 4);
    s.plan_helps = random.one_in(2) ? 1 : 0;
  }
  if (random.one_in(4)) s.host_leak_mib = random.between(100, 2'000);
  if (random.one_in(8)) s.target_steps = random.between(500, 5'000);
  s.look_every_ms = random.between(2, 12) * hour_ms;
  const std::int64_t apart = random.between(20, 360) * minute_ms;
  make.every(apart, [&](std::int64_t at) {
    auto fault = static_cast<Fault>(random.between(0, fault_kinds - 1));
    if (fault == Fault::config_error && !random.one_in(4)) fault = Fault::daemon_killed;
    const bool of_worker = fault <= Fault::shim_killed;
    const Moment moment =
        of_worker && random.one_in(2) ? static_cast<Moment>(random.between(1, 6)) : Moment::any;
    make.add(at, fault, amount_of(fault, random), moment);
    if (fault == Fault::stop) make.add(at + random.between(1, hour_ms), Fault::start);
  });
}

void calm(Maker& /*make*/) {}

struct Known {
  ScenarioName name;
  void (*fill)(Maker&);
};
constexpr Known known[] = {
    {{"chaos", "everything at random, and quiet at the end"}, chaos},
    {{"calm", "nothing breaks"}, calm},
    {{"n300-port",
      "out of memory every 3 to 5 steps, 19 to 80 minutes of compilation, dead boards"},
     port},
    {{"leaky-host", "the worker's memory grows until the kernel kills it"}, leaky_host},
    {{"flaky-ethernet", "boards lose their links, one is dead, one may lie"}, flaky_ethernet},
    {{"mesh", "a run on four boards, of which some break: it goes on with fewer, and comes back"},
     mesh},
    {{"nan", "data that breaks the loss"}, bad_loss},
    {{"disk-full", "the disk fills up, checkpoints rot"}, disk_full},
    {{"daemon-killed", "the daemon dies at any instruction"}, daemon_killed},
};

}  // namespace

const std::vector<ScenarioName>& scenario_names() {
  static const std::vector<ScenarioName> names = [] {
    std::vector<ScenarioName> list;
    for (const Known& one : known) list.push_back(one.name);
    return list;
  }();
  return names;
}

std::optional<Scenario> make_scenario(std::string_view name, std::uint64_t seed,
                                      std::int64_t days) {
  for (const Known& one : known) {
    if (one.name.name != name) continue;
    Maker make(name, seed, days);
    one.fill(make);
    return make.done();
  }
  return std::nullopt;
}

}  // namespace trainward::sim
