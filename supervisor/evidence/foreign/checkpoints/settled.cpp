#include "supervisor/evidence/foreign/checkpoints/settled.hpp"

#include <algorithm>
#include <utility>

namespace trainward::foreign {

std::vector<Candidate> SettledCheckpoints::look(const std::vector<Candidate>& found,
                                                std::int64_t now_ms, bool writer_gone) {
  std::vector<Candidate> settled;
  waiting_ = false;
  std::unordered_map<std::string, Seen> still;
  still.reserve(found.size());
  for (const Candidate& candidate : found) {
    if (candidate.modified_ns < since_ns_) continue;
    if (candidate.step && *candidate.step <= kept_step_) continue;
    if (!candidate.folders.empty() && candidate.bytes == 0) continue;
    Seen now{candidate.bytes, candidate.modified_ns, candidate.inode, now_ms, false};
    const auto before = seen_.find(candidate.path.native());
    if (before != seen_.end()) {
      const Seen& old = before->second;
      const bool same =
          old.bytes == now.bytes && old.modified_ns == now.modified_ns && old.inode == now.inode;
      if (same) now = old;
    }
    if (!now.told && (writer_gone || now_ms - now.since_ms >= settle_ms)) {
      now.told = true;
      if (settled.size() < most_checkpoints_told) settled.push_back(candidate);
    }
    waiting_ = waiting_ || !now.told;
    still.emplace(candidate.path.native(), now);
  }
  seen_ = std::move(still);
  std::reverse(settled.begin(), settled.end());
  return settled;
}

}  // namespace trainward::foreign
