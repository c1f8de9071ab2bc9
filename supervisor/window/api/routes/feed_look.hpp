// What the feed reads of the record to know whether there is news. Thread: the reader's.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::api {

// In one snapshot.
struct FeedLook {
  std::int64_t newest = 0;              // id of the newest event; 0: no event
  std::optional<json::array> programs;  // the rows of /v1/programs, if they were asked for
  json::array steps;                    // with them: the newest of each program that has one
};

Result<std::int64_t> newest_event(const store::Store& store);
Result<FeedLook> look_at(const store::Store& store, bool programs);

}  // namespace trainward::api
