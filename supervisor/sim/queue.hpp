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
  std::uint64_t order = 0;  // of equal times, what was scheduled first comes first
  Due due = Due::worker;
  std::int64_t id = 0;
};

class Queue {
 public:
  void add(std::int64_t at_ms, Due due, std::int64_t id = 0) {
    heap_.push_back({at_ms, ++order_, due, id});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Item& next() const { return heap_.front(); }
  Item take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Item item = heap_.back();
    heap_.pop_back();
    return item;
  }

 private:
  static bool later(const Item& a, const Item& b) {
    return a.at_ms != b.at_ms ? a.at_ms > b.at_ms : a.order > b.order;
  }
  std::vector<Item> heap_;
  std::uint64_t order_ = 0;
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
