// Which messages the user wants, and when (docs/messenger.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trainward::notify {

// Minutes since local midnight, 0 to 1439. From 22:00 to 07:00 is over midnight.
struct Quiet {
  int from = 0;
  int until = 0;
  friend bool operator==(const Quiet&, const Quiet&) = default;
};

struct Policy {
  std::int64_t hold_ms = 90'000;             // most crashes resume within
  std::int64_t no_progress_ms = 14'400'000;  // 0: nobody is told
  std::int64_t repeat_ms = 43'200'000;       // of what is critical, while it lasts; 0: told once
  std::optional<Quiet> quiet = {};
  std::optional<int> digest = 8 * 60;  // minute of the day; none: no digest
  int log_lines = 10;                  // of a program's log in a message; 0: none
  std::string page = {};               // where people reach the page; empty: nowhere
  friend bool operator==(const Policy&, const Policy&) = default;
};

// Rows of what was told stay for as long.
inline constexpr std::int64_t kept_ms = 30 * std::int64_t{86'400'000};

}  // namespace trainward::notify
