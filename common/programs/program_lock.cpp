#include "common/programs/exclusive_file.hpp"
#include "common/programs/names.hpp"
#include "common/programs/program_cache.hpp"

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
  if (fd_) programs::release_file(std::move(fd_), path_);
}

Result<ProgramLock> ProgramCache::lock(const std::string& key) const {
  if (auto ok = programs::require_key(key); !ok) return propagate(ok);
  auto path = programs::file_of(folder_, key, programs::lock_suffix);
  auto held = programs::hold_file(path, programs::Wait::yes);
  if (!held) return propagate(held);
  return ProgramLock(std::move(**held), std::move(path));
}

Result<std::optional<ProgramLock>> ProgramCache::try_lock(const std::string& key) const {
  if (auto ok = programs::require_key(key); !ok) return propagate(ok);
  auto path = programs::file_of(folder_, key, programs::lock_suffix);
  auto held = programs::hold_file(path, programs::Wait::no);
  if (!held) return propagate(held);
  if (!*held) return std::nullopt;
  return ProgramLock(std::move(**held), std::move(path));
}

}  // namespace trainward
