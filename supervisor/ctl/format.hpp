// What people read: JSON documents of the API (docs/cli.md) in, text out. Pure; a missing or
// mistyped field shows as "-" or is left out, never a failure.
#pragma once

#include <cstdint>
#include <string>

#include "common/json.hpp"
#include "supervisor/ctl/table.hpp"

namespace trainward::ctl {

// supervisorctl's lines, one per program, no title; below it what keeps the daemon from looking
// after the program as it should.
std::string format_status(const json::array& rows, const Style& style);

// A row per attempt; `now_ms` for "3 min ago".
std::string format_history(const json::array& rows, std::int64_t now_ms, const Style& style);

std::string format_why(const json::object& why, std::int64_t now_ms, const Style& style);

std::string format_report(const json::object& report, const Style& style);

std::string format_events(const json::array& rows, const Style& style);

// Boards with their newest sample; the samples of one board.
std::string format_boards(const json::array& rows, std::int64_t now_ms, const Style& style);
std::string format_samples(const json::array& rows, std::int64_t now_ms, const Style& style);

std::string format_checkpoints(const json::array& rows, std::int64_t now_ms, const Style& style);

std::string format_checkpoint(const json::object& checkpoint, std::int64_t now_ms,
                              const Style& style);

std::string format_diff(const json::object& diff, const Style& style);

std::string format_repair(const json::object& repair, const Style& style);

std::string format_cache(const json::object& cache, std::int64_t now_ms, const Style& style);

std::string format_classified(const json::object& document, const Style& style);

}  // namespace trainward::ctl
