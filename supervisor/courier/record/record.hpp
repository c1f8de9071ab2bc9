// What the courier has on record, for status, API and metrics: read-only, bounded, and never
// waiting for the courier (its journal is a database in WAL mode).
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/error.hpp"
#include "common/base/json.hpp"

namespace trainward::courier {

inline constexpr const char* journal_name = "courier.db";

inline constexpr int most_recorded_rows = 200;

// {"jobs": […], "channels": […], "deliveries": […], "uploads": […], "tracked": […]}: the rows of
// these tables with their columns as they are; of each at most `most_recorded_rows`, of deliveries
// and uploads the newest, the newest first. No file, or a table that no receiver needed yet:
// nothing in it. Kind as of any database.
Result<json::object> recorded(const std::filesystem::path& state_folder);

}  // namespace trainward::courier
