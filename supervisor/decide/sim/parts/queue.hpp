// Virtual time: what is due next, and what the two clocks of the simulated machine show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/time.hpp"

namespace trainward::sim {

enum class Due {
  worker,     // does what it does next
  kernel,     // lets a killed process go
  journal,    // new records can be read
  shim_gone,  // after it wrote the exit record
  timer,      // of the supervisor
  answer,     // to something the supervisor asked for
  retry,      // of a commit that was refused
  daemon,     // is started (again)
  injection,  // a fault of the scenario
  heal,       // what a fault broke works again
  operator_,  // somebody looks at the run
};

struct Item {
  std::int64_t at_ms = 0;
  Due due = Due::worker;
  std::int64_t id = 0;
};

class Queue {
 public:
  // Of equal times, what was added first comes first.
  void add(std::int64_t at_ms, Due due, std::int64_t id = 0) {
    const auto sooner = [at_ms](const Item& item) { return item.at_ms <= at_ms; };
    const auto before = std::find_if_not(items_.rbegin(), items_.rend(), sooner);
    items_.insert(before.base(), {at_ms, due, id});
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] const Item& next() const { return items_.back(); }
  Item take() {
    const Item item = items_.back();
    items_.pop_back();
    return item;
  }

 private:
  // The next one last. Most of what is added is due before nearly all that waits (faults, looks and
  // deadlines of days to come), so its place is near the end.
  std::vector<Item> items_;
};

// True time counts milliseconds since the scenario began; nobody inside can see it.
struct Clock {
  std::int64_t true_ms = 0;
  std::int64_t wall_offset_ms = 1'767'225'600'000;  // 2026-01-01
  std::int64_t boot_true_ms = -60'000;              // the machine was up for a minute

  [[nodiscard]] Time now() const { return at(true_ms); }
  [[nodiscard]] Time at(std::int64_t ms) const {
    return {WallTime{ms + wall_offset_ms}, MonoTime{ms - boot_true_ms}};
  }
};

}  // namespace trainward::sim
