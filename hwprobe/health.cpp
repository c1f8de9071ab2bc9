#include "hwprobe/health.hpp"

namespace trainward::hwprobe {

Health health(const Report& report) {
  if (report.boards.empty()) return Health::unusable;
  std::size_t sound = 0;     // nothing wrong with it
  std::size_t workable = 0;  // could run now, or once its holder is gone
  std::size_t unclear = 0;
  for (const Board& board : report.boards) {
    if (board.verdict == Verdict::ok || board.verdict == Verdict::busy) ++sound;
    if (usable(board.verdict) || board.verdict == Verdict::busy) ++workable;
    if (board.verdict == Verdict::unknown) ++unclear;
  }
  if (sound == report.boards.size()) return Health::healthy;
  if (workable > 0) return Health::degraded;
  return unclear == report.boards.size() ? Health::unclear : Health::unusable;
}

}  // namespace trainward::hwprobe
