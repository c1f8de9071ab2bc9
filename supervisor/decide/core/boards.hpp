// What a board has done to its programs: faults, quarantine with an expiry, probation after it.
//
// Kept by serial number in the run database and shared by all programs. A board that comes out of
// quarantine is on probation: the next fault sends it back, for twice as long. A day of service
// without a fault ends the probation and halves what is remembered.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "supervisor/decide/core/plan.hpp"
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

// For a program that runs on less than the mesh it is configured for.
struct SmallerMesh {
  std::string shape;  // "2x2"
  std::string full;   // "2x4"
  std::string why;    // what the full one lacks, in words
  std::int64_t chips = 0;
  friend bool operator==(const SmallerMesh&, const SmallerMesh&) = default;
};
BOOST_DESCRIBE_STRUCT(SmallerMesh, (), (shape, full, why, chips))

// What a mesh had when it was last whole: what is missing later is named by it.
struct KnownMesh {
  std::string shape;               // "2x4"; empty: none is known
  std::vector<std::string> pairs;  // neighbours, by the names of the links between them
  std::int64_t links = 0;          // in all
  bool proven = false;             // a step was done on it
  friend bool operator==(const KnownMesh&, const KnownMesh&) = default;
};
BOOST_DESCRIBE_STRUCT(KnownMesh, (), (shape, pairs, links, proven))

// The way back from a smaller mesh to a larger one.
struct Growth {
  int failures = 0;                      // in a row: the larger one was lost again within a day
  WallTime moved_wall_ms;                // the newest way back; 0: none, or it has failed
  std::int64_t chips = 0;                // of the mesh it led to; 0: the full one
  std::optional<MonoTime> look_mono_ms;  // when to look for it; none: not while nothing runs
  PlanMemory plan;                       // where the full one stood on its ladder
  friend bool operator==(const Growth&, const Growth&) = default;
};
BOOST_DESCRIBE_STRUCT(Growth, (), (failures, moved_wall_ms, chips, look_mono_ms, plan))

// For how long no larger mesh is looked for; doubled by each failure, up to a day.
[[nodiscard]] std::int64_t pause_ms(const Growth& growth, std::int64_t first_ms);
// The mesh that it led to does not fit now.
void lose(Growth& growth, WallTime now);

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
