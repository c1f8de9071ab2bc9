// The end of a worker's logs, read through the crash rules. These are loaded once, when the first
// log has to be read: a daemon whose programs are well does not hold them in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/decide/session/happening.hpp"

namespace trainward::daemon {

using session::LogEvidence;

// The last complete bytes of a file, at most `limit`; empty when it cannot be read.
std::string read_tail(const std::filesystem::path& file, std::int64_t limit);

class CrashRules {
 public:
  explicit CrashRules(std::filesystem::path user_rules);

  // Loads a user's rules, so that a bad file is an error at the start.
  Status check() const;

  // Says what the logs in an attempt's folder tell; on any thread, also when this is gone.
  using Reader = std::function<LogEvidence(const std::filesystem::path& attempt_folder)>;
  [[nodiscard]] Reader reader() const;

 private:
  struct Loaded;
  std::shared_ptr<Loaded> loaded_;
};

}  // namespace trainward::daemon
