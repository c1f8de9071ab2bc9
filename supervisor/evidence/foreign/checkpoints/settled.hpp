// When a foreign program's checkpoint is complete.
//
// Nobody says so: it counts when it has had the same size and time for a second, or when its writer
// is gone. Each version of it is told once. When many are complete at once (somebody has copied old
// ones into the folder) the newest few are told and the others never: a checkpoint that is older
// than one that verifies is not resumed from, and what does not verify is chosen again from the
// folder at the next launch.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "supervisor/evidence/foreign/checkpoints/find.hpp"

namespace trainward::foreign {

// Told at most, of those that are complete in the same look.
inline constexpr std::size_t most_checkpoints_told = 16;

class SettledCheckpoints {
 public:
  static constexpr std::int64_t settle_ms = 1'000;

  // What was last written before `since_ns` belongs to earlier attempts; those up to `kept_step`
  // were counted by an earlier daemon.
  SettledCheckpoints(std::int64_t since_ns, std::int64_t kept_step)
      : since_ns_(since_ns), kept_step_(kept_step) {}

  // `found`: as find_checkpoints() gives them. The newest comes last. A folder without a byte in it
  // is no checkpoint yet.
  std::vector<Candidate> look(const std::vector<Candidate>& found, std::int64_t now_ms,
                              bool writer_gone = false);
  // Some of them have to be looked at again, settle_ms later.
  [[nodiscard]] bool waiting() const { return waiting_; }
  [[nodiscard]] std::int64_t since_ns() const { return since_ns_; }

 private:
  struct Seen {
    std::uint64_t bytes = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    std::int64_t since_ms = 0;  // the first look that found it so
    bool told = false;
  };
  std::int64_t since_ns_;
  std::int64_t kept_step_;
  std::unordered_map<std::string, Seen> seen_;
  bool waiting_ = false;
};

}  // namespace trainward::foreign
