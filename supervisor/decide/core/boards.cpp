#include "supervisor/decide/core/boards.hpp"

#include <algorithm>

namespace trainward::core {
namespace {

constexpr std::size_t remembered_faults = 16;
constexpr std::int64_t day_ms = 86'400'000;

}  // namespace

std::int64_t stains(const BoardRecord& board) {
  constexpr std::int64_t on_probation = 100;
  return static_cast<std::int64_t>(board.faults_wall_ms.size()) +
         (board.probation ? on_probation : 0);
}

bool quarantined(const BoardRecord& board, WallTime now) {
  return now < board.quarantined_until_wall_ms;
}

void quarantine(BoardRecord& board, const std::string& reason, const Quarantine& rules,
                WallTime now) {
  std::int64_t length = std::max<std::int64_t>(rules.for_ms, 1);
  for (int i = 0; i < board.quarantines && length < rules.max_ms; ++i) length *= 2;
  board.quarantined_until_wall_ms = now + std::min(length, rules.max_ms);
  ++board.quarantines;
  board.probation = true;
  board.faults_wall_ms.clear();
  board.reason = reason;
}

bool add_fault(BoardRecord& board, const std::string& reason, const Quarantine& rules,
               WallTime now) {
  board.reason = reason;
  auto& faults = board.faults_wall_ms;
  faults.push_back(now);
  if (faults.size() > remembered_faults) faults.erase(faults.begin());
  const auto recent = std::count_if(faults.begin(), faults.end(),
                                    [&](WallTime at) { return at > now - rules.within_ms; });
  if (!board.probation && recent < rules.faults) return false;
  quarantine(board, reason, rules, now);
  return true;
}

bool add_service(BoardRecord& board, const Quarantine& rules, WallTime now) {
  const WallTime quiet_since =
      board.faults_wall_ms.empty() ? board.quarantined_until_wall_ms : board.faults_wall_ms.back();
  if (quiet_since == WallTime{} || now - quiet_since < std::max(rules.within_ms, day_ms)) {
    return false;
  }
  board.faults_wall_ms.clear();
  board.probation = false;
  board.quarantines /= 2;
  // A board with a past serves another quiet day before the rest of it is forgotten.
  board.quarantined_until_wall_ms = board.quarantines > 0 ? now : WallTime{};
  return true;
}

std::int64_t pause_ms(const Growth& growth, std::int64_t first_ms) {
  std::int64_t pause = std::max<std::int64_t>(first_ms, 1);
  for (int i = 0; i < growth.failures && pause < day_ms; ++i) pause *= 2;
  return std::min(pause, std::max(first_ms, day_ms));
}

void lose(Growth& growth, WallTime now) {
  if (growth.moved_wall_ms == WallTime{}) return;
  growth.failures = now - growth.moved_wall_ms < day_ms ? growth.failures + 1 : 0;
  growth.moved_wall_ms = {};
}

}  // namespace trainward::core
