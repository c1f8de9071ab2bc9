// What the supervisor decided for this attempt: $TRAINWARD_PLAN.
//
// {"block": 64, "batch": 4, "accumulation": 2, "recompute": true,
//  "checkpoint_every": 2, "skip": [{"from": 41, "to": 43}],
//  "board": {"serial": "…", "simulate": {"dram_bytes": 25769803776, "base_bytes": 0,
//            "leak_bytes_per_step": 0, "hang": {"attempt": 5, "after_steps": 12}}}}
//
// Every key is optional; `simulate` may be null. Inside `simulate` an unknown key is an error of
// kind usage; outside it keys that this worker does not use are passed over, because a plan may say
// more than one worker understands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/sim/simulated_board.hpp"

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
  std::string serial;                   // empty: not said
  std::optional<BoardScript> simulate;  // empty: no simulated board
};

// Empty text is an empty plan.
Result<AttemptPlan> read_attempt_plan(std::string_view plan);

// The configured work as this plan cuts it.
TrainingSpec planned(TrainingSpec configured, const AttemptPlan& plan);

// How many batches an attempt that resumes at `step` leaves out before its first.
std::int64_t batches_to_skip(const AttemptPlan& plan, std::int64_t step);

Result<BoardScript> read_board_script(const json::object& simulate);

}  // namespace trainward::trainer
