// The ghost line of a curve: what older attempts had made of steps that a newer one made again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/curve/curve_attempts.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

// Steps, both ends included.
struct CurveSpan {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// A row a range: {"attempt", "from", "to", "step": [], "mean": []}. A few thousand points in all,
// of the longest ranges where there are many; ranges that were thinned out are left out. `metric`
// is the name of one of curve_figures.
Result<json::array> curve_lost(Connection& db, const std::string& program, CurveSpan span,
                               const std::vector<CurveAttempt>& attempts, std::string_view metric);

}  // namespace trainward::store
