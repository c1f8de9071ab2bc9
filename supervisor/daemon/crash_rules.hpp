// The crash rules, loaded when a log has to be read and dropped again after a quiet minute: a
// daemon whose programs are well does not hold them in memory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "common/error.hpp"
#include "supervisor/daemon/log_evidence.hpp"
#include "supervisor/daemon/loop.hpp"
#include "supervisor/rules/log_matcher.hpp"

namespace trainward::daemon {

class CrashRules {
 public:
  CrashRules(Loop& loop, std::filesystem::path user_rules)
      : user_rules_(std::move(user_rules)), quiet_(loop) {}

  // Reads the user's rules once, so that a bad file is an error at the start.
  Status check() const;

  // What the logs in an attempt's folder say; on any thread. Rules that cannot be read any more are
  // no evidence.
  LogEvidence read_logs(const std::filesystem::path& attempt_folder);

  // On the loop, after read_logs(): the rules may go when nobody needs them for a while.
  void used();

 private:
  std::filesystem::path user_rules_;
  Timer quiet_;
  std::mutex mutex_;
  std::shared_ptr<const rules::LogMatcher> matcher_;  // guarded by mutex_
};

}  // namespace trainward::daemon
