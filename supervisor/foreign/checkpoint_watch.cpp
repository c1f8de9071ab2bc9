#include "supervisor/foreign/checkpoint_watch.hpp"

#include <algorithm>

namespace trainward::foreign {

Events CheckpointWatch::look(const std::vector<CheckpointFile>& found, bool writer_gone) {
  Events events;
  waiting_ = false;
  std::map<std::filesystem::path, Seen> still;
  for (const CheckpointFile& file : found) {
    if (file.modified_ns < since_ns_ || file.step <= kept_step_) continue;
    const auto before = seen_.find(file.path);
    const bool same = before != seen_.end() && before->second.file == file;
    bool told = same && before->second.told;
    if (!told && (same || writer_gone)) {
      events.emplace_back(core::CheckpointReported{file.path.string(), file.step});
      told = true;
    }
    waiting_ = waiting_ || !told;
    still[file.path] = {file, told};
  }
  seen_ = std::move(still);
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace trainward::foreign
