#include "supervisor/daemon/crash_rules.hpp"

#include <spdlog/spdlog.h>

namespace trainward::daemon {
namespace {

constexpr std::int64_t quiet_ms = 60'000;

}  // namespace

Status CrashRules::check() const {
  if (user_rules_.empty()) return {};  // the built-in ones are tested; loading them takes 0.1 s
  auto loaded = rules::LogMatcher::load(user_rules_);
  if (!loaded) return propagate(loaded);
  return {};
}

LogEvidence CrashRules::read_logs(const std::filesystem::path& attempt_folder) {
  if (logs_are_empty(attempt_folder)) return {};
  std::shared_ptr<const rules::LogMatcher> matcher;
  {
    const std::lock_guard lock(mutex_);
    if (!matcher_) {
      auto loaded = rules::LogMatcher::load(user_rules_);
      if (!loaded) {
        spdlog::error("the crash rules cannot be read any more: {}", loaded.error().message());
        return {};
      }
      matcher_ = std::make_shared<const rules::LogMatcher>(std::move(*loaded));
    }
    matcher = matcher_;
  }
  return log_evidence(attempt_folder, *matcher);
}

void CrashRules::used() {
  quiet_.after(quiet_ms, [this] {
    const std::lock_guard lock(mutex_);
    matcher_.reset();
  });
}

}  // namespace trainward::daemon
