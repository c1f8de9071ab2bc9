#include "supervisor/decide/sim/parts/disk.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainward::sim {

const Checkpoint& Disk::write(std::int64_t step, bool poisoned) {
  std::erase_if(all_, [&](const Checkpoint& c) { return c.step == step; });
  const auto place =
      std::find_if(all_.begin(), all_.end(), [&](const Checkpoint& c) { return c.step > step; });
  return *all_.insert(
      place, {step, fmt::format("/ckpt/{:08}.{}", step, ++serial_), false, poisoned, false});
}

const Checkpoint* Disk::find(const std::string& path) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Checkpoint& c) { return c.path == path; });
  return found == all_.end() ? nullptr : &*found;
}

Checkpoint* Disk::find(const std::string& path) {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Checkpoint& c) { return c.path == path; });
  return found == all_.end() ? nullptr : &*found;
}

const Checkpoint* Disk::newest() const { return all_.empty() ? nullptr : &all_.back(); }

const Checkpoint* Disk::newest_verified() const {
  const auto found =
      std::find_if(all_.rbegin(), all_.rend(), [](const Checkpoint& c) { return c.verified; });
  return found == all_.rend() ? nullptr : &*found;
}

const Checkpoint* Disk::newest_good() const {
  const auto found =
      std::find_if(all_.rbegin(), all_.rend(), [](const Checkpoint& c) { return !c.damaged; });
  return found == all_.rend() ? nullptr : &*found;
}

void Disk::damage_newest() {
  if (!all_.empty()) all_.back().damaged = true;
}

std::vector<Checkpoint> Disk::set_aside_damaged() {
  std::vector<Checkpoint> taken;
  while (!all_.empty() && all_.back().damaged) {
    aside_.push_back(all_.back().path);
    taken.push_back(all_.back());
    all_.pop_back();
  }
  return taken;
}

void Disk::set_aside_from(std::int64_t below) {
  while (!all_.empty() && all_.back().step >= below) {
    aside_.push_back(all_.back().path);
    all_.pop_back();
  }
  if (aside_.size() > 64) aside_.erase(aside_.begin(), aside_.end() - 64);
}

void Disk::prune(std::size_t keep) {
  if (all_.size() > keep) all_.erase(all_.begin(), all_.end() - static_cast<std::ptrdiff_t>(keep));
}

bool Disk::was_set_aside(const std::string& path) const {
  return std::find(aside_.begin(), aside_.end(), path) != aside_.end();
}

}  // namespace trainward::sim
