// What the supervisor decided for this attempt: $TRAINWARD_PLAN.
//
// {"block": 64, "batch": 4, "accumulation": 2, "recompute": true,
//  "checkpoint_every": 2, "skip": [{"from": 41, "to": 43}],
//  "board": {"serial": "…"}, "mesh": {"shape": [2, 2], "chips": ["…/L", …]}}
//
// Every key is optional. Keys that this worker does not use are passed over, because a plan may say
// more than one worker understands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Steps whose data is left out, both ends included: the loss broke there. Meant for an attempt that
// resumes right before `from`.
struct SkippedSteps {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct AttemptPlan {
  std::int64_t block = 0;             // tokens in a sequence; 0: as configured
  std::int64_t batch = 0;             // sequences at a time; 0: as configured
  std::int64_t accumulation = 1;      // times the configured number of batches make a step
  bool recompute = false;             // even where it is not configured
  std::int64_t checkpoint_every = 0;  // steps; 0: as configured
  std::vector<SkippedSteps> skip;
  std::string serial;          // empty: not said
  std::int64_t mesh_rows = 0;  // of devices that share a step; 0: as configured
  std::int64_t mesh_columns = 0;
  std::vector<std::string> chips;  // of its mesh, in the order of the devices; empty: not said
};

// Empty text is an empty plan.
Result<AttemptPlan> read_attempt_plan(std::string_view plan);

// The configured work as this plan cuts it.
TrainingSpec planned(TrainingSpec configured, const AttemptPlan& plan);

// As many devices as the attempt has, which may be fewer than are configured.
void use_mesh(const AttemptPlan& plan, WorkerConfig& config);

// How many batches an attempt that resumes at `step` leaves out before its first.
std::int64_t batches_to_skip(const AttemptPlan& plan, std::int64_t step);

}  // namespace trainward::trainer
