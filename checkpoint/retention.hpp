// Which checkpoints stay, which go, and what becomes of those that were set aside.
//
// A checkpoint stays when any of these holds: it is among the newest `keep` that verify (at least
// two: one may turn out damaged just when it is needed); its step is a multiple of `keep_every`; it
// is pinned; it is held, by name or by a process that has it open (Loaded). Errors as in
// checkpoint.hpp. One caller a root at a time; readers and a writer may run beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

struct Retention {
  int keep = 2;
  std::int64_t keep_every = 0;              // steps; 0: no milestones
  std::vector<std::filesystem::path> held;  // in use, but not opened yet
  // True for a folder that was verified since it last changed: it need not be read again.
  // Empty: everything that counts is read.
  std::function<bool(const std::filesystem::path&)> known_good;
  IoOptions io = {};  // of the reading; its progress is told of one checkpoint after the other
};

struct Pruned {
  std::vector<std::filesystem::path> removed;  // newest first
  std::vector<std::filesystem::path> in_use;   // would have gone, but a process has them open
};

// Removes what need not stay, and stale temporary folders; nothing is removed before everything
// that must be read has been. With `dry_run` it only tells.
Result<Pruned> prune(const std::filesystem::path& root, const Retention& retention,
                     bool dry_run = false);

// A pin is a file PINNED in the folder; its text says why. Pinning again replaces the text.
Status pin(const std::filesystem::path& folder, const std::string& reason);
Status unpin(const std::filesystem::path& folder);
bool is_pinned(const std::filesystem::path& folder);
// The text; empty when it is not pinned or cannot be read.
std::string pinned_because(const std::filesystem::path& folder);

}  // namespace trainward::checkpoint
