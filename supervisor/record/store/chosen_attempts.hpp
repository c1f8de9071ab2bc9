// Some attempts of a run that may have thousands of them, at the cost of those alone: v_attempts
// works out all of them whichever are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/json/json.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {

// The rows of v_attempts with the numbers from `from` to `to`, the newest first; at most `limit`.
Result<json::array> chosen_attempts(Connection& db, const std::string& program, std::int64_t from,
                                    std::int64_t to, std::int64_t limit);

// The newest attempt that has ended, failing that the newest; none: there is no attempt.
Result<std::optional<std::int64_t>> attempt_to_explain(Connection& db, const std::string& program);

}  // namespace trainward::store
