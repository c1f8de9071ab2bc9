#include "supervisor/daemon/service/core_limit.hpp"

#include <optional>
#include <utility>

namespace trainward::daemon {
namespace {

rlimit present_core_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return limit;
}

// As of descriptor_limit.cpp: one for a process, set before other threads exist.
std::optional<rlimit>& core_limit_before() {
  static std::optional<rlimit> limit;
  return limit;
}

}  // namespace

rlimit inherited_core_limit() { return core_limit_before().value_or(present_core_limit()); }

// The soft limit alone, which can be raised again. Programs that take cores from the kernel by a
// pipe (systemd-coredump, apport) keep none where it is 0.
void leave_no_core() {
  const rlimit inherited = inherited_core_limit();
  const rlimit none{0, inherited.rlim_max};
  if (::setrlimit(RLIMIT_CORE, &none) == 0) core_limit_before() = inherited;
}

void restore_core_limit() {
  if (const auto inherited = std::exchange(core_limit_before(), std::nullopt)) {
    ::setrlimit(RLIMIT_CORE, &*inherited);
  }
}

}  // namespace trainward::daemon
