// What the courier has on record, for status, API and metrics: read-only, bounded, and never
// waiting for the courier (its journal is a database in WAL mode).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::courier {

inline constexpr const char* journal_name = "courier.db";

// For reading only; null: it does not exist, or is not a regular file. Waits for nothing.
Result<std::unique_ptr<store::Connection>> open_journal(const std::filesystem::path& file);

inline constexpr int most_recorded_rows = 200;

// {"jobs": […], "channels": […], "deliveries": […], "uploads": […], "tracked": […]}: the rows of
// these tables with their columns as they are; of each at most `most_recorded_rows`, of deliveries
// and uploads the newest, the newest first. No file, or a table that no receiver needed yet:
// nothing in it. Kind as of any database.
Result<json::object> recorded(const std::filesystem::path& state_folder);

// Totals since the beginning: counts of what was sent and what failed never decrease, not even when
// rows are deleted or taken up again.
struct Counts {
  struct Messages {
    std::string channel;
    std::string state;  // of `deliveries`
    std::int64_t count = 0;
  };
  struct Uploads {
    std::string program;
    std::string target;
    std::int64_t sent_bytes = 0;
    std::optional<std::int64_t> newest_step;  // of those that lie there whole
    std::int64_t failed = 0;                  // tries
  };
  std::vector<Messages> messages;
  std::vector<Uploads> uploads;
};
// Messages that are held for a while, or until quiet hours are over, do not wait yet at `now_ms`.
Result<Counts> counted(const std::filesystem::path& state_folder, std::int64_t now_ms);

struct FailingJob {
  std::string name;           // "upload trainer/hub"
  std::int64_t since_ms = 0;  // it has failed
  std::string error;
};
Result<std::vector<FailingJob>> failing_jobs(const std::filesystem::path& state_folder);

// How many messages each channel has not been told since then, as all tries had failed.
Result<std::vector<std::pair<std::string, std::int64_t>>> given_up_since(
    const std::filesystem::path& state_folder, std::int64_t since_ms);

}  // namespace trainward::courier
