#include "supervisor/daemon/service/descriptor_limit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainward::daemon {
namespace {

constexpr rlim_t enough = 65'536;

rlimit present_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

// There is one limit for a process, and so one place that remembers what it was. Set before other
// threads exist.
std::optional<rlimit>& before() {
  static std::optional<rlimit> limit;
  return limit;
}

}  // namespace

rlimit inherited_descriptor_limit() { return before().value_or(present_limit()); }

void raise_descriptor_limit() {
  const rlimit inherited = inherited_descriptor_limit();
  rlimit raised = inherited;
  raised.rlim_cur = std::max(inherited.rlim_cur, std::min(inherited.rlim_max, enough));
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) before() = inherited;
}

void restore_descriptor_limit() {
  if (const auto inherited = std::exchange(before(), std::nullopt)) {
    ::setrlimit(RLIMIT_NOFILE, &*inherited);
  }
}

}  // namespace trainward::daemon
