// What a run's server is told next, from the run database. It is told a step once, so only those
// are that no later attempt will do again, as far as anybody knows.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/orders/trackers.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::tracking {

inline constexpr std::int64_t nothing_pending = -1;

// How far the server has been told.
struct Told {
  std::int64_t step = -1;        // looked at up to here
  std::int64_t shown_step = -1;  // the last one sent
  std::int64_t evaluation = -1;
  // Of what is being sent, so that the same is sent again.
  std::int64_t pending_last = nothing_pending;
  std::int64_t pending_attempt = 0;
};

struct Batch {
  json::array metrics;
  std::int64_t last = -1;  // of the steps looked at
  std::int64_t shown_step = -1;
  std::int64_t evaluation = -1;
  std::int64_t newest_attempt = 0;
  bool more = false;
  json::array tags;
  std::string_view status = "RUNNING";  // in MLflow's words
  std::int64_t began_ms = 0;
  std::int64_t ended_ms = 0;
};

bool is_over(std::string_view status);

// At most one request's worth. Kind transient: the program is gone from the database.
Result<Batch> gather(const store::Store& store, const orders::TrackingOrder& order,
                     const Told& told);

}  // namespace trainward::tracking
