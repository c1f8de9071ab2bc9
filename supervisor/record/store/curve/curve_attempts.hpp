// The attempts of a run as its curve shows them: what v_attempts says of each, in a tenth of the
// time, since most of what that view looks up is not asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

struct CurveAttempt {
  std::int64_t attempt = 0;
  std::int64_t first_step = 0;  // 0: none
  std::int64_t last_step = 0;
  std::optional<std::int64_t> resume_step = {};  // none: not known yet
  std::int64_t kept_step = 0;
  std::optional<std::int64_t> steps_lost = {};  // none: not known yet
  std::string cause;
  std::string board;
  std::int64_t began_ms = 0;
  std::int64_t ended_ms = 0;  // 0: it runs
};

// Oldest first.
Result<std::vector<CurveAttempt>> curve_attempts(Connection& db, const std::string& program);
json::object to_json(const CurveAttempt& attempt);

}  // namespace trainward::store
