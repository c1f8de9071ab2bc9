#include "supervisor/daemon/crash_rules.hpp"

#include <spdlog/spdlog.h>

#include <mutex>

#include "supervisor/rules/log_matcher.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t quiet_ms = 60'000;

}  // namespace

struct CrashRules::Loaded {
  std::filesystem::path user_rules;
  std::mutex mutex;
  std::shared_ptr<const rules::LogMatcher> matcher;  // guarded by mutex

  // Null, and said in the log, when the rules cannot be read.
  std::shared_ptr<const rules::LogMatcher> get() {
    const std::lock_guard lock(mutex);
    if (matcher) return matcher;
    auto loaded = rules::LogMatcher::load(user_rules);
    if (!loaded) {
      spdlog::error("the crash rules cannot be read any more: {}", loaded.error().message());
      return nullptr;
    }
    matcher = std::make_shared<const rules::LogMatcher>(std::move(*loaded));
    return matcher;
  }
};

CrashRules::CrashRules(Loop& loop, std::filesystem::path user_rules)
    : loaded_(std::make_shared<Loaded>()), quiet_(loop) {
  loaded_->user_rules = std::move(user_rules);
}

Status CrashRules::check() const {
  if (loaded_->user_rules.empty()) return {};  // the built-in ones are tested; loading takes 0.1 s
  auto loaded = rules::LogMatcher::load(loaded_->user_rules);
  if (!loaded) return propagate(loaded);
  for (const std::string& warning : loaded->warnings()) spdlog::warn("{}", warning);
  return {};
}

CrashRules::Reader CrashRules::reader() const {
  return [loaded = loaded_](const std::filesystem::path& folder) -> LogEvidence {
    if (logs_are_empty(folder)) return {};
    const auto matcher = loaded->get();
    return matcher ? log_evidence(folder, *matcher) : LogEvidence{};
  };
}

void CrashRules::used() {
  quiet_.after(quiet_ms, [loaded = loaded_] {
    const std::lock_guard lock(loaded->mutex);
    loaded->matcher.reset();
  });
}

}  // namespace trainward::daemon
