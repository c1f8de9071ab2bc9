// What a board has done to its programs: faults, quarantine with an expiry, probation after it.
//
// Kept by serial number in the run database and shared by all programs. A board that comes out of
// quarantine is on probation: the next fault sends it back, for twice as long. A day of service
// without a fault ends the probation and halves what is remembered.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "supervisor/decide/core/policy.hpp"

namespace trainward::core {

struct BoardRecord {
  std::vector<WallTime> faults_wall_ms;  // the newest 16, oldest first
  WallTime quarantined_until_wall_ms;    // 0: never was, or served and forgotten
  int quarantines = 0;
  bool probation = false;
  std::string reason;  // of the newest fault
  friend bool operator==(const BoardRecord&, const BoardRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(BoardRecord, (),
                      (faults_wall_ms, quarantined_until_wall_ms, quarantines, probation, reason))

// A board that a program runs on beside its first one.
struct HeldBoard {
  std::string serial;
  BoardRecord record;
  friend bool operator==(const HeldBoard&, const HeldBoard&) = default;
};
BOOST_DESCRIBE_STRUCT(HeldBoard, (), (serial, record))

// Of two boards the one with fewer stains is the better one.
[[nodiscard]] std::int64_t stains(const BoardRecord& board);

[[nodiscard]] bool quarantined(const BoardRecord& board, WallTime now);

// Returns true when the board goes into quarantine now.
bool add_fault(BoardRecord& board, const std::string& reason, const Quarantine& rules,
               WallTime now);
// At once, whatever its faults: the ladder has tried everything else.
void quarantine(BoardRecord& board, const std::string& reason, const Quarantine& rules,
                WallTime now);
// After a step that counts. Returns true when something changed.
bool add_service(BoardRecord& board, const Quarantine& rules, WallTime now);

}  // namespace trainward::core
