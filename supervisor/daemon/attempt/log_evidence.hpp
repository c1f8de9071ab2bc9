// The end of a worker's logs, read through the crash rules.
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/rules/log_matcher.hpp"
#include "supervisor/session/happening.hpp"

namespace trainward::daemon {

using session::LogEvidence;

// Looks at the last 1 MiB of stderr, then of stdout: runtimes report on stderr. Line numbers are
// those of the part that was read when the file is longer. A missing log is no evidence.
LogEvidence log_evidence(const std::filesystem::path& attempt_folder,
                         const rules::LogMatcher& matcher);

// True when neither log holds anything to read.
bool logs_are_empty(const std::filesystem::path& attempt_folder);

// The last complete bytes of a file, at most `limit`; empty when it cannot be read.
std::string read_tail(const std::filesystem::path& file, std::int64_t limit);

}  // namespace trainward::daemon
