#include "common/program_cache/cache_names.hpp"
#include "common/program_cache/exclusive_file.hpp"
#include "common/program_cache/program_cache.hpp"

namespace trainward {
ProgramLock& ProgramLock::operator=(ProgramLock&& other) noexcept {
  if (this != &other) {
    unlock();
    fd_ = std::move(other.fd_);
    path_ = std::move(other.path_);
  }
  return *this;
}

ProgramLock::~ProgramLock() { unlock(); }

void ProgramLock::unlock() {
  if (fd_) program_cache::release_file(std::move(fd_), path_);
}

Result<ProgramLock> ProgramCache::lock(const std::string& key) const {
  if (auto ok = program_cache::require_key(key); !ok) return propagate(ok);
  auto path = program_cache::file_of(folder_, key, program_cache::lock_suffix);
  auto held = program_cache::hold_file(path, program_cache::Wait::yes);
  if (!held) return propagate(held);
  return ProgramLock(std::move(**held), std::move(path));
}

Result<std::optional<ProgramLock>> ProgramCache::try_lock(const std::string& key) const {
  if (auto ok = program_cache::require_key(key); !ok) return propagate(ok);
  auto path = program_cache::file_of(folder_, key, program_cache::lock_suffix);
  auto held = program_cache::hold_file(path, program_cache::Wait::no);
  if (!held) return propagate(held);
  if (!*held) return std::nullopt;
  return ProgramLock(std::move(**held), std::move(path));
}

}  // namespace trainward
