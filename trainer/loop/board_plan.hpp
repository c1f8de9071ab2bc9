// What the supervisor decided for this attempt: $TRAINWARD_PLAN.
//
// {"board": {"serial": "…", "simulate": {"dram_bytes": 25769803776, "base_bytes": 0,
//            "leak_bytes_per_step": 0, "hang": {"attempt": 5, "after_steps": 12}}}}
//
// Every key is optional; `simulate` may be null. Inside `simulate` an unknown key is an error of
// kind usage; outside it keys that this worker does not use are passed over, because a plan may say
// more than one worker understands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/json.hpp"
#include "trainer/sim/simulated_board.hpp"

namespace trainward::trainer {

struct BoardPlan {
  std::string serial;                   // empty: not said
  std::optional<BoardScript> simulate;  // empty: no simulated board
};

// Empty text is an empty plan.
Result<BoardPlan> read_board_plan(std::string_view plan);

Result<BoardScript> read_board_script(const json::object& simulate);

}  // namespace trainward::trainer
