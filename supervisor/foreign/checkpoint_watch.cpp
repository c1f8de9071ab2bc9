#include "supervisor/foreign/checkpoint_watch.hpp"

#include <algorithm>

namespace trainward::foreign {

Events CheckpointWatch::look(const std::vector<CheckpointFile>& found, std::int64_t now_ms,
                             bool writer_gone) {
  Events events;
  waiting_ = false;
  std::unordered_map<std::string, Seen> still;
  still.reserve(found.size());
  for (const CheckpointFile& file : found) {
    if (file.modified_ns < since_ns_ || file.step <= kept_step_) continue;
    Seen now{file.bytes, file.modified_ns, file.inode, now_ms, false};
    const auto before = seen_.find(file.path.native());
    if (before != seen_.end()) {
      const Seen& old = before->second;
      const bool same =
          old.bytes == now.bytes && old.modified_ns == now.modified_ns && old.inode == now.inode;
      if (same) now = old;
    }
    if (!now.told && (writer_gone || now_ms - now.since_ms >= settle_ms)) {
      now.told = true;
      if (events.size() < most_checkpoints_told) {
        events.emplace_back(core::CheckpointReported{file.path.string(), {file.step}});
      }
    }
    waiting_ = waiting_ || !now.told;
    still.emplace(file.path.native(), now);
  }
  seen_ = std::move(still);
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace trainward::foreign
