#include "supervisor/process/shim/memory/state_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "supervisor/process/shim/memory/state_keeper.hpp"

namespace trainward::shim {
namespace {

void say(const char* what, const Error& error) {
  std::fprintf(stderr, "trainward-shim: %s: %s\n", what, error.message().c_str());
}

Result<KeptState> make_fresh(const std::optional<Credentials>& user) {
  KeptState state;
  for (Fd& fd : state) {
    fd = Fd(::memfd_create("trainward-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return fail_errno(errno, "make memory for the state");
    if (::fchmod(fd.get(), 0600) != 0) return fail_errno(errno, "set the rights of the memory");
    if (user && ::fchown(fd.get(), user->user, user->group) != 0) {
      return fail_errno(errno, "give the memory to the worker's user");
    }
  }
  return state;
}

bool holds_something(const Fd& fd) {
  struct stat info {};
  return ::fstat(fd.get(), &info) == 0 && info.st_blocks > 0;
}

}  // namespace

StateMemory::StateMemory(const LaunchSpec& spec, const std::filesystem::path& attempt)
    : folder_(attempt.parent_path().parent_path()) {
  if (spec.memory == LaunchSpec::Memory::none) return;
  // Also where it is not to be used: then nobody else is to find it.
  auto kept = take_kept_state(folder_);
  const uid_t user = spec.user ? spec.user->user : ::geteuid();
  const auto ours = [&](const Fd& fd) { return is_state_of(fd.get(), user); };
  if (kept && spec.memory == LaunchSpec::Memory::take && std::ranges::all_of(*kept, ours)) {
    state_ = std::move(*kept);
    return;
  }
  if (!kept && kept.error().kind == ErrorKind::transient) say("state in memory", kept.error());
  auto fresh = make_fresh(spec.user);
  if (fresh) {
    state_ = std::move(*fresh);
  } else {
    say("the worker's state is not kept in memory", fresh.error());
  }
}

std::string StateMemory::numbers() const {
  return state_ ? fmt::format("{},{}", (*state_)[0].get(), (*state_)[1].get()) : "";
}

std::vector<int> StateMemory::descriptors() const {
  if (!state_) return {};
  return {(*state_)[0].get(), (*state_)[1].get()};
}

void StateMemory::keep() const {
  if (!state_ || std::ranges::none_of(*state_, holds_something)) return;
  auto folder = Folder::open(folder_);
  Status started = folder ? start_keeper(*folder, *state_) : propagate(folder);
  if (!started) say("the worker's state in memory is lost", started.error());
}

}  // namespace trainward::shim
