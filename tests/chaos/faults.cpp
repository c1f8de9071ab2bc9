#include "faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

namespace trainward::chaos {
namespace {

struct Description {
  Kind kind;
  std::string_view name;
  std::int64_t shortest_ms;  // how long it lasts; 0: no time at all
  std::int64_t longest_ms;
  bool silences;
};

constexpr std::array descriptions{
    Description{Kind::kill_daemon, "kill_daemon", 0, 0, true},
    Description{Kind::end_daemon, "end_daemon", 0, 0, true},
    Description{Kind::stop_daemon, "stop_daemon", 50, 3'000, true},
    Description{Kind::kill_shim, "kill_shim", 0, 0, false},
    Description{Kind::stop_shim, "stop_shim", 50, 6'000, false},
    Description{Kind::end_shim, "end_shim", 0, 0, false},
    Description{Kind::kill_worker, "kill_worker", 0, 0, false},
    Description{Kind::stop_worker, "stop_worker", 50, 6'000, false},
    Description{Kind::end_worker, "end_worker", 0, 0, false},
    Description{Kind::kill_helper, "kill_helper", 0, 0, false},
    Description{Kind::stop_helper, "stop_helper", 50, 3'000, false},
    Description{Kind::stop_all, "stop_all", 50, 3'000, true},
    Description{Kind::log_burst, "log_burst", 0, 0, false},
    Description{Kind::checkpoint_burst, "checkpoint_burst", 0, 0, false},
    Description{Kind::commands, "commands", 0, 0, false},
    Description{Kind::api_flood, "api_flood", 0, 0, false},
    Description{Kind::idle_clients, "idle_clients", 200, 3'000, false},
    Description{Kind::half_requests, "half_requests", 200, 3'000, false},
    Description{Kind::vanished_clients, "vanished_clients", 0, 0, false},
    Description{Kind::datagrams, "datagrams", 0, 0, false},
    Description{Kind::pipes, "pipes", 200, 3'000, false},
    Description{Kind::disk_full, "disk_full", 200, 3'000, false},
    Description{Kind::read_only, "read_only", 200, 3'000, false},
    Description{Kind::no_watches, "no_watches", 500, 5'000, false},
    Description{Kind::no_descriptors, "no_descriptors", 200, 2'000, true},
    Description{Kind::no_memory, "no_memory", 200, 1'000, true},
    Description{Kind::clock, "clock", 0, 0, false},
    Description{Kind::suspend, "suspend", 0, 0, false},
    Description{Kind::reload, "reload", 0, 0, true},
    Description{Kind::port_taken, "port_taken", 200, 3'000, false},
    Description{Kind::journal_damaged, "journal_damaged", 0, 0, false},
    Description{Kind::state_damaged, "state_damaged", 0, 0, true},
    Description{Kind::database_back, "database_back", 0, 0, true},
    Description{Kind::folders_swapped, "folders_swapped", 200, 3'000, false},
};

const Description& describe(Kind kind) {
  return *std::find_if(descriptions.begin(), descriptions.end(),
                       [kind](const Description& one) { return one.kind == kind; });
}

// Nothing happens for as long as the programs need to come up, and after the last fault.
constexpr std::int64_t quiet_ms = 2'000;
constexpr std::int64_t longest_pause_ms = 900;

}  // namespace

std::string_view name_of(Kind kind) { return describe(kind).name; }

bool silences_daemon(Kind kind) { return describe(kind).silences; }

bool ends_daemon(Kind kind) {
  return kind == Kind::kill_daemon || kind == Kind::end_daemon || kind == Kind::state_damaged ||
         kind == Kind::database_back;
}

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = [] {
    std::vector<Kind> all;
    for (const Description& one : descriptions) all.push_back(one.kind);
    return all;
  }();
  return kinds;
}

// The distributions of the standard library differ between libraries; remainders do not.
std::vector<Fault> draw(std::uint64_t seed, std::int64_t ms, const std::vector<Kind>& kinds) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  std::vector<Fault> faults;
  if (kinds.empty()) return faults;
  for (std::int64_t at = quiet_ms; at < ms - quiet_ms; at += 50 + below(longest_pause_ms)) {
    Fault fault;
    fault.at_ms = at;
    fault.kind = kinds[random() % kinds.size()];
    const Description& one = describe(fault.kind);
    if (one.longest_ms > 0) {
      fault.for_ms = one.shortest_ms + below(one.longest_ms - one.shortest_ms);
    }
    fault.target = random() % 1'000;
    fault.amount = random() % 1'000;
    faults.push_back(fault);
  }
  return faults;
}

std::string text_of(const Fault& fault) {
  return fmt::format("{:9.3f} s  {:<16}  target {:3}  amount {:3}{}",
                     static_cast<double>(fault.at_ms) / 1'000, name_of(fault.kind), fault.target,
                     fault.amount,
                     fault.for_ms > 0 ? fmt::format("  for {} ms", fault.for_ms) : "");
}

}  // namespace trainward::chaos
