#include "supervisor/daemon/loop/own_limits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainward::daemon {
namespace {

constexpr rlim_t enough_files = 65'536;

class Limit {
 public:
  explicit Limit(__rlimit_resource of) : of_(of) {}

  [[nodiscard]] rlimit inherited() const {
    rlimit present{};
    if (!before_) ::getrlimit(of_, &present);
    return before_.value_or(present);
  }
  void set(const rlimit& limit) {
    const rlimit before = inherited();
    if (::setrlimit(of_, &limit) == 0) before_ = before;
  }
  void restore() {
    if (const auto before = std::exchange(before_, std::nullopt)) ::setrlimit(of_, &*before);
  }

 private:
  __rlimit_resource of_;
  std::optional<rlimit> before_;
};

// A process has one of each, and so one place that remembers what it was. Set before other threads
// exist.
Limit& open_files() {
  static Limit limit(RLIMIT_NOFILE);
  return limit;
}

Limit& core_file() {
  static Limit limit(RLIMIT_CORE);
  return limit;
}

}  // namespace

rlimit inherited_descriptor_limit() { return open_files().inherited(); }

rlimit inherited_core_limit() { return core_file().inherited(); }

void raise_descriptor_limit() {
  rlimit raised = inherited_descriptor_limit();
  raised.rlim_cur = std::max(raised.rlim_cur, std::min(raised.rlim_max, enough_files));
  open_files().set(raised);
}

// The soft limit alone, which can be raised again. Programs that take cores from the kernel by a
// pipe (systemd-coredump, apport) keep none where it is 0.
void leave_no_core() { core_file().set({0, inherited_core_limit().rlim_max}); }

void restore_limits() {
  open_files().restore();
  core_file().restore();
}

}  // namespace trainward::daemon
