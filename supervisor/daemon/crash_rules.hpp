// The crash rules, loaded when a log has to be read and dropped again after a quiet minute: a
// daemon whose programs are well does not hold them in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "common/error.hpp"
#include "supervisor/daemon/log_evidence.hpp"
#include "supervisor/daemon/loop.hpp"

namespace trainward::daemon {

class CrashRules {
 public:
  CrashRules(Loop& loop, std::filesystem::path user_rules);

  // Reads the user's rules once, so that a bad file is an error at the start.
  Status check() const;

  // Says what the logs in an attempt's folder tell; on any thread, also when this is gone. Rules
  // that cannot be read any more are no evidence.
  using Reader = std::function<LogEvidence(const std::filesystem::path& attempt_folder)>;
  [[nodiscard]] Reader reader() const;

  // On the loop, after reading: the rules may go when nobody needs them for a while.
  void used();

 private:
  struct Loaded;
  std::shared_ptr<Loaded> loaded_;
  Timer quiet_;
};

}  // namespace trainward::daemon
