// When a foreign program's checkpoint file is complete.
//
// Nobody says so: a file counts when two looks in a row find it with the same size and time, or
// when its writer is gone. Each version of a file is told once.
#pragma once

#include <map>

#include "supervisor/foreign/checkpoint_files.hpp"
#include "supervisor/foreign/report.hpp"

namespace trainward::foreign {

class CheckpointWatch {
 public:
  // Files last written before `since_ns` belong to earlier attempts; those up to `kept_step` were
  // counted by an earlier daemon.
  CheckpointWatch(std::int64_t since_ns, std::int64_t kept_step)
      : since_ns_(since_ns), kept_step_(kept_step) {}

  // `found`: as find_checkpoints() gives them. The oldest step comes first.
  Events look(const std::vector<CheckpointFile>& found, bool writer_gone = false);
  // Some file has to be looked at again.
  [[nodiscard]] bool waiting() const { return waiting_; }

 private:
  struct Seen {
    CheckpointFile file;
    bool told = false;
  };
  std::int64_t since_ns_;
  std::int64_t kept_step_;
  std::map<std::filesystem::path, Seen> seen_;
  bool waiting_ = false;
};

}  // namespace trainward::foreign
