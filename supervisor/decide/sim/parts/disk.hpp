// The checkpoints on the simulated disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainward::sim {

struct Checkpoint {
  std::int64_t step = 0;
  std::string path;  // one of a kind
  bool damaged = false;
  bool poisoned = false;  // written by a worker whose weights had gone bad
  bool verified = false;  // the supervisor was told so, or chose it
};

class Disk {
 public:
  // Newest step last. A step that is written again replaces the older one.
  const Checkpoint& write(std::int64_t step, bool poisoned);
  [[nodiscard]] const Checkpoint* find(const std::string& path) const;
  Checkpoint* find(const std::string& path);
  [[nodiscard]] const std::vector<Checkpoint>& all() const { return all_; }  // newest last
  [[nodiscard]] const Checkpoint* newest() const;
  [[nodiscard]] const Checkpoint* newest_verified() const;
  [[nodiscard]] const Checkpoint* newest_good() const;
  void damage_newest();

  // Takes the damaged ones away on its way to the newest good one; returns what it took.
  std::vector<Checkpoint> set_aside_damaged();
  // Takes those of step `below` and later away.
  void set_aside_from(std::int64_t below);
  void prune(std::size_t keep);
  [[nodiscard]] bool was_set_aside(const std::string& path) const;

  bool full = false;

 private:
  std::vector<Checkpoint> all_;
  std::vector<std::string> aside_;  // the newest 64
  std::int64_t serial_ = 0;
};

}  // namespace trainward::sim
