// What repair() is going to do with the checkpoints of a folder, from the verdicts on them.
//
// In: every checkpoint, also those set aside as damaged, and its verdict, in the order of
// candidates_in(). Out: the renames to make, and what is good after them. Changes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/tools/repair.hpp"

namespace trainward::checkpoint {

struct Candidate {
  std::filesystem::path path;
  std::int64_t step = 0;  // by its name
  bool aside = false;     // lies under `.corrupt-…`

  [[nodiscard]] std::uint64_t bytes() const;  // of its files
};

// Those under their own name first, then those aside, each newest first.
Result<std::vector<Candidate>> candidates_in(const std::filesystem::path& root);

struct Planned {
  Repair::Step step;
  std::string identity;  // of the folder that was judged (disk/root_folder.hpp)
};

class Planner {
 public:
  // Adds to what `repair` says is good, spare or left alone.
  Planner(std::filesystem::path root, Repair& repair) : root_(std::move(root)), repair_(repair) {}

  void take(const Candidate& candidate, Result<Summary> verdict, std::string identity);
  std::vector<Planned> finish() { return std::move(planned_); }

 private:
  void leave(const Candidate& candidate, std::string reason);

  std::filesystem::path root_;
  Repair& repair_;
  std::vector<Planned> planned_;
  std::set<std::int64_t> taken_;  // steps whose name is in use after the repair
};

}  // namespace trainward::checkpoint
