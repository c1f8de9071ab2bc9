#include "supervisor/daemon/attempt/crash_rules.hpp"

#include <spdlog/spdlog.h>

#include <mutex>
#include <optional>

#include "supervisor/rules/log_matcher.hpp"

namespace trainward::daemon {

struct CrashRules::Loaded {
  std::filesystem::path user_rules;
  std::once_flag once;
  std::optional<Result<rules::LogMatcher>> matcher;

  const Result<rules::LogMatcher>& get() {
    std::call_once(once, [this] { matcher.emplace(rules::LogMatcher::load(user_rules)); });
    return *matcher;
  }
};

CrashRules::CrashRules(std::filesystem::path user_rules) : loaded_(std::make_shared<Loaded>()) {
  loaded_->user_rules = std::move(user_rules);
}

Status CrashRules::check() const {
  if (loaded_->user_rules.empty()) return {};  // the built-in ones are tested; loading takes 0.1 s
  const auto& matcher = loaded_->get();
  if (!matcher) return tl::unexpected<Error>(matcher.error());
  for (const std::string& warning : matcher->warnings()) spdlog::warn("{}", warning);
  return {};
}

CrashRules::Reader CrashRules::reader() const {
  return [loaded = loaded_](const std::filesystem::path& folder) -> LogEvidence {
    if (logs_are_empty(folder)) return {};
    const auto& matcher = loaded->get();
    return matcher ? log_evidence(folder, *matcher) : LogEvidence{};
  };
}

}  // namespace trainward::daemon
