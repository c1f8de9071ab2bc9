// What is said of a board, from its row in GET /v1/boards. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/json/json.hpp"

namespace trainward::views {

struct BoardStanding {
  std::string verdict;  // of the newest look: "OK", "ARC_DEAD"; "QUARANTINE" as long as it lasts
  std::string reason;
};

BoardStanding standing_of(const json::object& board, std::int64_t now_ms);

}  // namespace trainward::views
