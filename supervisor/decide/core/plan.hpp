// The work of one attempt, as the worker is told in TRAINWARD_PLAN.
//
// Plans form a ladder from the configured work to the least memory the worker can do with:
// recompute activations, then split the batch in halves, then halve the block. A rung keeps the
// effective batch (batch × accumulation) as long as it can. A batch is not split below the number
// of devices that share it: that would leave each of them with as much.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "common/base/step.hpp"
#include "common/base/time.hpp"
#include "supervisor/decide/core/policy.hpp"

namespace trainward::core {

// Steps whose data is not trained on: the loss broke there. Both ends included.
struct DataWindow {
  Step from;
  Step to;
  friend bool operator==(const DataWindow&, const DataWindow&) = default;
};
BOOST_DESCRIBE_STRUCT(DataWindow, (), (from, to))

struct Plan {
  std::int64_t block = 0;  // tokens; 0: as configured
  std::int64_t batch = 0;  // sequences at once; 0: as configured
  std::int64_t accumulation = 1;
  bool recompute = false;
  std::int64_t checkpoint_every = 0;  // steps; 0: as configured
  std::vector<DataWindow> skip;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// From the configured plan (rung 0) downwards; never empty.
std::vector<Plan> plan_ladder(const Shrinking& shrinking);

// A rung that ran out of memory before it made progress is not tried again before this time; each
// failure doubles the wait.
struct FailedRung {
  int times = 0;
  WallTime not_before_wall_ms;
  friend bool operator==(const FailedRung&, const FailedRung&) = default;
};
BOOST_DESCRIBE_STRUCT(FailedRung, (), (times, not_before_wall_ms))

// Where a program stands on its ladder.
struct PlanMemory {
  int rung = 0;
  std::int64_t good_steps = 0;  // finished on this rung since it was entered
  std::map<int, FailedRung> failed;
  friend bool operator==(const PlanMemory&, const PlanMemory&) = default;
};
BOOST_DESCRIBE_STRUCT(PlanMemory, (), (rung, good_steps, failed))

// One rung down; false when it stands on the last.
bool shrink(PlanMemory& memory, const Shrinking& shrinking, WallTime now);
// One rung up, when this one has held for long enough and the one above may be tried again.
bool probe_up(PlanMemory& memory, WallTime now);

}  // namespace trainward::core
