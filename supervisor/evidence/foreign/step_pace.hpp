// How many of the steps that a program prints are told: all of them, unless they come faster than a
// hundred a second for long. Then the newest of every 10 ms is, as of a worker that speaks
// (docs/worker-protocol.md), and ten times a second: what is told at once is one transaction.
//
// Pure: time comes in.
#pragma once

#include <optional>

#include "common/base/token_bucket.hpp"
#include "supervisor/evidence/foreign/terms/foreign_report.hpp"

namespace trainward::foreign {

class StepPace {
 public:
  // Those of `events` to be told now, in their order; steps may wait for a later call.
  Events keep(Events events, MonoTime at);
  // What waits. When everything was read that there is.
  Events rest();

 private:
  TokenBucket tokens_{8'000, 100};
  Events batch_;                        // kept, and not told yet
  std::optional<core::Event> waiting_;  // may be overtaken
  MonoTime next_batch_;
  bool told_ = false;
};

}  // namespace trainward::foreign
